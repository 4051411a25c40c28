/** Absolute paths as text, without a look at any file. */

/** Without `.`, `..`, empty parts and a slash at the end. */
export function normalize(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** The directory that a normalized path lies in. */
export function dirname(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}

/** True if a normalized path is the directory or lies in it. */
export function isWithin(directory: string, path: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}
