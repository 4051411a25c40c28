/**
 * Decides whether a request may be sent to a server that has no guard of its own: nothing that it names, in any reading
 * that a server could have, may lie outside the side's own directory, and it must not make a link that leads outside.
 * What cannot be judged is not sent. Shares no code with the server.
 */
import { isInside, walk } from "./places.ts";
import { type BytePath, EACCES, list, lstat, PosixError, readlink } from "./posix.ts";
import { readings } from "./readings.ts";

/** Methods that name nothing. */
const HARMLESS = new Set(["initialize", "environment/status", "fs/readBlock", "fs/writeBlock", "fs/close"]);
const READING = new Set([
  "fs/readFile",
  "fs/getMetadata",
  "fs/canonicalize",
  "fs/readDirectory",
  "fs/walk",
  "fs/watchMissing",
]);
const CHANGING = new Set(["fs/open", "fs/writeFile", "fs/createDirectory", "fs/remove", "fs/copy"]);
/** Parameters that are never paths, by name; as items of an array they are judged like paths. */
const DATA = new Set(["dataBase64", "chunk"]);

/** Four times as many as Linux takes. */
const MOST_LETTERS = 16_384;

export class Guard {
  /**
   * @param directory The side's own directory, without links on the way to it; the server's working directory.
   * @throws {Error} If it is none.
   */
  constructor(readonly directory: BytePath) {
    const { end, entry } = walk(directory);
    if (end !== directory || entry !== directory || lstat(directory)?.kind !== "directory") {
      throw new Error(`${directory} is no directory, or a link leads to it`);
    }
  }

  /** @returns Why the text must not be sent, or null if it may. */
  refusal(text: string): string | null {
    const message = parseFaithfully(text);
    if (message === null) return "not JSON in its one spelling";
    const { id: _, method, params, ...others } = message;
    if (typeof method !== "string" || Object.keys(others).length > 0) return "not a plain request";
    if (HARMLESS.has(method)) return null;
    // The mode may come as a text or as the name of a member.
    const changes = method === "fs/open" ? JSON.stringify(params)?.includes("replace") : CHANGING.has(method);
    if (!CHANGING.has(method) && !READING.has(method)) return `method ${method}`;
    for (const value of stringsIn(params)) {
      const reason = this.#judgeText(value, changes);
      if (reason !== null) return `${reason}: ${JSON.stringify(value)}`;
    }
    return (changes ? this.treeRefusal() : null) ?? (method === "fs/copy" ? this.#judgeCopy(params) : null);
  }

  /** @returns Why a path must not be changed, or null if it may. */
  pathRefusal(path: BytePath): string | null {
    return this.#judgePath(path, true);
  }

  /** @returns Why a path must not be moved to another one, or null if it may. */
  moveRefusal(from: BytePath, to: BytePath): string | null {
    return this.#judgePath(from, true) ?? this.#judgePath(to, true) ??
      this.#linksLeadingOut(walk(from, this.directory).entry, walk(to, this.directory).entry);
  }

  /** @returns The link in the directory that leads outside, or null if there is none. */
  treeRefusal(): string | null {
    return this.#linksLeadingOut(this.directory, this.directory);
  }

  #judgeText(text: string, changes: boolean): string | null {
    for (const { path, isDrive } of readings(text)) {
      if (isDrive && !changes && lstat(path.slice(0, 3)) === null) continue; // there is no such place to be read
      const isRelative = !path.startsWith("/");
      const reason = this.#judgePath(isRelative ? `${this.directory}/${path}` : path, changes && !isRelative);
      if (reason !== null) return reason;
    }
    return null;
  }

  /** Whether the walk along a path stays inside once it is there, and ends there: below the directory to change it. */
  #judgePath(path: BytePath, changes: boolean): string | null {
    if (path.length > MOST_LETTERS) return "is too long to be judged";
    const { places, end, entry } = walk(path, this.directory);
    const isAllowed = (place: BytePath) => isInside(place, this.directory) || isInside(this.directory, place);
    if (!places.every(isAllowed)) return "leads outside";
    const isBelow = (place: BytePath) => place.startsWith(`${this.directory}/`);
    if (changes) return isBelow(end) && isBelow(entry) ? null : "is not below the side's directory";
    return isInside(end, this.directory) && isInside(entry, this.directory) ? null : "is not in the side's directory";
  }

  /** A copied relative link leads from another place to another one. */
  #judgeCopy(params: unknown): string | null {
    // What does not come as an object of strings was judged like an object: `stringsIn` finds the same ones in it.
    const [source, destination]: unknown[] = Array.isArray(params) ? params : [
      (params as { sourcePath?: unknown } | null)?.sourcePath,
      (params as { destinationPath?: unknown } | null)?.destinationPath,
    ];
    if (typeof source !== "string" || typeof destination !== "string") return null;
    for (const from of readings(source)) {
      for (const to of readings(destination)) {
        const [{ entry, end }, place] = [
          walk(this.#absolute(from.path), this.directory),
          walk(this.#absolute(to.path), this.directory).entry,
        ];
        const reason = this.#linksLeadingOut(entry, place) ?? this.#linksLeadingOut(end, place);
        if (reason !== null) return `copied, ${reason}`;
      }
    }
    return null;
  }

  #absolute(path: BytePath): BytePath {
    return path.startsWith("/") ? path : `${this.directory}/${path}`;
  }

  /** The links at and below `from`: where they lead if all of it stood at `to`. */
  #linksLeadingOut(from: BytePath, to: BytePath): string | null {
    const kind = kindOf(from);
    if (kind === "link") {
      const target = readlink(from);
      const parent = walk(to.slice(0, to.lastIndexOf("/"))).end;
      const reason = this.#judgePath(target.startsWith("/") ? target : `${parent}/${target}`, false);
      return reason === null ? null : `the link ${JSON.stringify(from)} to ${JSON.stringify(target)} ${reason}`;
    }
    if (kind !== "directory") return null;
    for (const name of namesIn(from)) {
      const reason = this.#linksLeadingOut(`${from}/${name}`, `${to}/${name}`);
      if (reason !== null) return reason;
    }
    return null;
  }
}

/** A JSON object, if the text is what it would be written as: without doubled members and spellings that differ. */
function parseFaithfully(text: string): Record<string, unknown> | null {
  // Numbers keep the digits that were sent; their value means nothing here.
  const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };
  const keepNumber = (_: string, value: unknown, context: { source?: string }) =>
    typeof value === "number" ? rawJSON(context.source!) : value;
  try {
    const value: unknown = JSON.parse(text, keepNumber as (key: string, value: unknown) => unknown);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject && JSON.stringify(value) === text ? value as Record<string, unknown> : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** All strings in a value, but for members that hold data. */
function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (Array.isArray(value) || !DATA.has(name)) yield* stringsIn(member);
  }
}

function kindOf(path: BytePath): string | undefined {
  return unlessForbidden(() => lstat(path)?.kind, undefined);
}

function namesIn(directory: BytePath): readonly BytePath[] {
  return unlessForbidden(() => list(directory), []);
}

/** What we must not look at no server run by the same user can go through. */
function unlessForbidden<T>(look: () => T, instead: T): T {
  try {
    return look();
  } catch (error) {
    if (error instanceof PosixError && error.errno === EACCES) return instead;
    throw error;
  }
}
