/** Where a path leads, found by walking it as the kernel does. */
import { type BytePath, EACCES, ENAMETOOLONG, lstat, PosixError, readlink } from "./posix.ts";

/** The most links that Linux follows along one path. */
const MOST_LINKS = 40;

export interface Walk {
  /** Every place that the walk comes to, links in the order in which they are met; `/` is the empty text. */
  readonly places: readonly BytePath[];
  /** Where it ends, the last link followed. With too many links: where it was given up. */
  readonly end: BytePath;
  /** The entry that the path names, the last link not followed. */
  readonly entry: BytePath;
}

/** Walks an absolute path. What is missing is taken for a directory that may be made. */
export function walk(path: BytePath): Walk {
  const places: BytePath[] = [];
  let rest = components(path);
  let own = rest.length; // components left that are the path's own, not a link's
  let links = 0;
  let current = "", entry = "";
  while (rest.length > 0) {
    const [name, ...after] = rest as [BytePath, ...BytePath[]];
    const isOwn = rest.length <= own;
    rest = after;
    own = Math.min(own, rest.length);
    if (name === "..") current = current.slice(0, Math.max(current.lastIndexOf("/"), 0));
    else {
      const place = `${current}/${name}`;
      if (isOwn && rest.length === 0) entry = place;
      const target = targetOf(place);
      if (target === null) current = place;
      else {
        places.push(place);
        if (++links > MOST_LINKS) return { places, end: place, entry: entry === "" ? place : entry };
        if (target.startsWith("/")) current = "";
        rest = [...components(target), ...rest];
      }
    }
    places.push(current);
  }
  return { places, end: current, entry: entry === "" ? current : entry };
}

/** What a link says, or null if none is there. A place that we cannot look at leads us, and servers like us, nowhere. */
function targetOf(place: BytePath): BytePath | null {
  try {
    return lstat(place)?.kind === "link" ? readlink(place) : null;
  } catch (error) {
    if (error instanceof PosixError && (error.errno === EACCES || error.errno === ENAMETOOLONG)) return null;
    throw error;
  }
}

function components(path: BytePath): BytePath[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

/** True for the directory itself and everything below. */
export function isInside(place: BytePath, directory: BytePath): boolean {
  return place === directory || place.startsWith(`${directory}/`);
}
