/** Directory trees as data, and how they come to be. */
import * as posix from "./posix.ts";
import type { BytePath } from "./posix.ts";

/** Stands for the tree's own directory in targets of links and in requests. */
export const TREE = "<tree>";

/** One thing in a tree; `path` is relative to it. */
export type Entry =
  & { readonly path: BytePath }
  & (
    | { readonly kind: "file"; readonly size: number; readonly mode: number; readonly time: Time }
    | { readonly kind: "directory"; readonly mode: number; readonly time: Time }
    /** A file with this text, in which {@linkcode TREE} stands for the tree's path. */
    | { readonly kind: "text"; readonly text: string }
    /** A directory with so many children. */
    | { readonly kind: "crowd"; readonly count: number }
    | { readonly kind: "link"; readonly to: BytePath; readonly time: Time }
    | { readonly kind: "hard link"; readonly to: BytePath }
    | { readonly kind: "fifo" }
    | { readonly kind: "socket" }
  );

/** When something was changed: seconds since 1970, perhaps before, and nanoseconds. */
export type Time = readonly [seconds: number, nanoseconds: number];

/**
 * Makes a tree at a path where nothing is. What cannot be made because of an earlier entry is left out, so that any
 * list of entries makes a tree.
 */
export function build(tree: BytePath, entries: readonly Entry[]): void {
  posix.mkdir(tree);
  const made: Entry[] = [];
  const directories = new Set<BytePath>([""]);
  for (const entry of entries) {
    // Not through a link: a relative one leads elsewhere from there.
    if (!directories.has(entry.path.slice(0, Math.max(entry.path.lastIndexOf("/"), 0)))) continue;
    try {
      if (!make(tree, entry)) continue;
      made.push(entry);
      if (entry.kind === "directory" || entry.kind === "crowd") directories.add(entry.path);
    } catch (error) {
      if (!(error instanceof posix.PosixError)) throw error; // too long a path
    }
  }
  // From the last to the first: a directory that nobody may enter, and one whose time is set, must be complete.
  for (const entry of made.reverse()) {
    const place = `${tree}/${entry.path}`;
    if (entry.kind === "file" || entry.kind === "directory") posix.chmod(place, entry.mode);
    if ("time" in entry) posix.setTime(place, ...entry.time);
  }
}

/** @returns False if that is not possible at this place. */
function make(tree: BytePath, entry: Entry): boolean {
  const place = `${tree}/${entry.path}`;
  if (posix.lstat(place) !== null) return false;
  switch (entry.kind) {
    case "file":
      posix.write(place, content(entry.size));
      return true;
    case "text":
      posix.write(place, posix.toBytes(entry.text.replaceAll(TREE, tree)));
      return true;
    case "directory":
      posix.mkdir(place);
      return true;
    case "crowd":
      posix.mkdir(place);
      for (let i = 0; i < entry.count; i++) makeOneOfMany(`${place}/${i}`, i);
      return true;
    case "link":
      posix.symlink(entry.to.replace(TREE, tree), place);
      return true;
    case "hard link": {
      const existing = `${tree}/${entry.to}`;
      if (!["file", "fifo"].includes(posix.lstat(existing)?.kind ?? "")) return false;
      posix.link(existing, place);
      return true;
    }
    case "fifo":
      posix.mkfifo(place);
      return true;
    case "socket":
      return posix.bindSocket(place);
  }
}

/** Mostly files, with some directories and links that lead nowhere. */
function makeOneOfMany(place: BytePath, i: number): void {
  if (i % 7 === 3) posix.mkdir(place);
  else if (i % 11 === 5) posix.symlink("nowhere", place);
  else posix.write(place, content(i % 3));
}

/** So many bytes that tell where they belong: not all alike, and different for each size. */
export function content(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let i = 0; i < size; i++) bytes[i] = (i * 7 + (i >> 8) * 13 + size) & 0xff;
  return bytes;
}
