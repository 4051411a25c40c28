/** More directories than that are not watched, those that are missing counted as well. The reference's limit. */
const MAX_WATCHED_DIRECTORIES = 64;

/** Directory → the names in it that count. A directory comes after those above it. */
export type WatchedNames = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Where something has to be seen so that nothing that happens to the paths goes unnoticed: in each directory on the way
 * to one of them, the next name of the way.
 *
 * @param paths Absolute and normal.
 * @param rootLength How much of a path is its root, which has no name itself; its separator counts.
 * @returns Null if these are too many directories.
 */
export function watchedNames(
  paths: readonly string[],
  separator: string = "/",
  rootLength: (path: string) => number = () => separator.length,
): WatchedNames | null {
  const names = new Map<string, Set<string>>();
  for (const path of paths) {
    let directory = path.slice(0, rootLength(path));
    for (let at = directory.length; at < path.length;) {
      const next = path.indexOf(separator, at);
      const end = next < 0 ? path.length : next;
      const inDirectory = names.get(directory);
      if (inDirectory !== undefined) inDirectory.add(path.slice(at, end));
      else if (names.size === MAX_WATCHED_DIRECTORIES) return null;
      else names.set(directory, new Set([path.slice(at, end)]));
      directory = path.slice(0, end);
      at = end + separator.length;
    }
  }
  return names;
}

const ASCII = /^[\0-\x7f]*$/;

/**
 * Whether what happens to a name in a directory may concern a watched one. A directory may take names for the same that
 * differ in case or in the form of their letters, so case is ignored and what is not ASCII may be any name, as it may for
 * the reference.
 */
export function concerns(watched: ReadonlySet<string>, name: string): boolean {
  if (watched.has(name) || !ASCII.test(name)) return true;
  const lower = name.toLowerCase();
  for (const each of watched) if (each.toLowerCase() === lower || !ASCII.test(each)) return true;
  return false;
}
