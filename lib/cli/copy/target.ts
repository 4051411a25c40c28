/** Where exactly a copy goes, by the rules of `cp -r` and `docker cp`; the same on either side. */

/** What stands at a path, links followed. */
export type Kind = "missing" | "file" | "directory" | "danglingLink" | "special";

/** One of the two machines, as far as the choice of a target needs it. Paths are opaque: of this side's kind. */
export interface Side {
  kind(path: string): Promise<Kind>;
  child(directory: string, name: string): string;
  parent(path: string): string;
  /** As people are shown it. */
  shown(path: string): string;
}

export interface Source {
  readonly isDirectory: boolean;
  /** Undefined: it has none of use (a stream, a root, a name that is not UTF-8). */
  readonly name: string | undefined;
  /** It was written as `dir/.`: what is in it is meant. */
  readonly contentsOnly: boolean;
  readonly shown: string;
}

export interface Target {
  readonly path: string;
  /** Something stands there already: a file is replaced, a directory is added to. */
  readonly exists: boolean;
  /** It is in the directory that was asked for, under the source's name. */
  readonly isInside?: boolean;
}

/** The copy is not possible as it was asked for. */
export class CopyError extends Error {
  override readonly name = "CopyError";
}

/**
 * @param path What was asked for.
 * @param saysDirectory It was written with a slash or dots at the end, so it has to be a directory.
 * @throws {CopyError} If the copy cannot be.
 */
export async function chooseTarget(
  side: Side,
  path: string,
  saysDirectory: boolean,
  source: Source,
): Promise<Target> {
  const kind = await side.kind(path);
  if (kind === "directory" && !source.contentsOnly) {
    if (source.name === undefined) {
      throw new CopyError(`${side.shown(path)} is a directory, and ${source.shown} has no name to be given in it`);
    }
    const inside = side.child(path, source.name);
    return { ...existing(side, inside, await side.kind(inside), source), isInside: true };
  }
  if (kind === "missing") {
    if (!source.isDirectory && saysDirectory) throw new CopyError(`there is no directory ${side.shown(path)}`);
    const parent = side.parent(path);
    const found = await side.kind(parent);
    if (found !== "directory") {
      throw new CopyError(
        `${side.shown(parent)} ${
          found === "missing" ? "does not exist" : "is not a directory"
        }, so nothing can be put there`,
      );
    }
  }
  if (kind === "file" && saysDirectory) throw new CopyError(`${side.shown(path)} is not a directory`);
  return existing(side, path, kind, source);
}

function existing(side: Side, path: string, kind: Kind, source: Source): Target {
  const shown = side.shown(path);
  switch (kind) {
    case "missing":
      return { path, exists: false };
    case "danglingLink":
      throw new CopyError(`${shown} is a link that leads nowhere; remove it, or name what it should lead to`);
    case "special":
      throw new CopyError(`${shown} is neither a file nor a directory, and is not replaced`);
    case "file":
      if (source.isDirectory) throw new CopyError(`${shown} is a file, and ${source.shown} is a directory`);
      return { path, exists: true };
    case "directory":
      if (!source.isDirectory) throw new CopyError(`${shown} is a directory, and ${source.shown} is a file`);
      return { path, exists: true };
  }
}
