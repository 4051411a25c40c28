/** The file system of macOS, where one file has many spellings: names in either case, composed or not. */

import { fromText, toText } from "./byte_path.ts";
import type { FileTree } from "./file_tree.ts";
import { portableTree } from "./portable_tree.ts";

/** Where the volume of users' data shows a second time; the system calls a file in it by its other name. */
const DATA_VOLUME = "/System/Volumes/Data";

export const macTree: FileTree = { ...portableTree, spelling: (path) => fromText(spelling(toText(path))) };

/**
 * The one that the kernel knows it by, and compares policies with.
 *
 * @param path No link is on the way.
 */
function spelling(path: string): string {
  try {
    const real = Deno.realPathSync(path);
    const short = real.startsWith(`${DATA_VOLUME}/`) ? real.slice(DATA_VOLUME.length) : real;
    return short !== real && isSame(short, real) ? short : real;
  } catch {
    // It has gone meanwhile, or may not be looked at: then there is none but this.
    return path;
  }
}

function isSame(path: string, other: string): boolean {
  const [one, two] = [Deno.lstatSync(path), Deno.lstatSync(other)];
  return one.dev === two.dev && one.ino !== null && one.ino === two.ino;
}
