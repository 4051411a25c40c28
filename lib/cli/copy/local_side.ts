import type { Kind, Side } from "./target.ts";

/** This machine. Paths are as the user writes them. */
export const localSide: Side = {
  async kind(path): Promise<Kind> {
    try {
      const { isFile, isDirectory } = await Deno.stat(path);
      return isDirectory ? "directory" : isFile ? "file" : "special";
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    try {
      await Deno.lstat(path);
      return "danglingLink";
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return "missing";
      throw error;
    }
  },
  child: (directory, name) => directory.endsWith("/") ? directory + name : `${directory}/${name}`,
  parent(path) {
    const [plain, end] = [withoutSlash(path), lastSeparator(withoutSlash(path))];
    return end < 0 ? "." : plain.slice(0, end) || "/";
  },
  shown: (path) => path,
};

/**
 * The name that a copy of `path` gets in another directory; for `.` and `..` that of the directory itself.
 *
 * @returns Undefined for a root.
 */
export async function localName(path: string): Promise<string | undefined> {
  const plain = withoutSlash(path);
  const name = plain.slice(lastSeparator(plain) + 1);
  if (name !== "." && name !== ".." && name !== "") return name;
  const real = withoutSlash(await Deno.realPath(path));
  return real.slice(lastSeparator(real) + 1) || undefined;
}

/** Whether a link is there, whatever it leads to. */
export async function isLink(path: string): Promise<boolean> {
  try {
    return (await Deno.lstat(path)).isSymlink;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Whether a name from the other side is one, and says nothing of where it is. */
export function isFileName(name: string): boolean {
  const separators = Deno.build.os === "windows" ? /[/\\:\0]/ : /[/\0]/;
  return name !== "" && name !== "." && name !== ".." && !separators.test(name);
}

function withoutSlash(path: string): string {
  return path.length > 1 ? path.replace(/(?<=.)\/+$/, "") : path;
}

function lastSeparator(path: string): number {
  return Math.max(path.lastIndexOf("/"), Deno.build.os === "windows" ? path.lastIndexOf("\\") : -1);
}
