/** Where a path leads, found by walking it as the kernel does. */
import { type BytePath, EACCES, lstat, PosixError, readlink } from "./posix.ts";

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

/**
 * Walks an absolute path. What is missing is taken for a directory that may be made.
 *
 * @param base A directory to which no link leads. It saves the look at all that is above it.
 */
export function walk(path: BytePath, base: BytePath = ""): Walk {
  const places: BytePath[] = [];
  let links = 0;
  let current = "", entry = "";
  const rest: BytePath[] = []; // the next component last
  const turnTo = (text: BytePath): void => {
    const isBelowBase = base !== "" && text.startsWith(`${base}/`);
    if (isBelowBase) places.push(current = base);
    else if (text.startsWith("/")) current = "";
    rest.push(...components(isBelowBase ? text.slice(base.length) : text).reverse());
  };
  turnTo(path);
  let own = rest.length; // components left that are the path's own, not a link's
  while (rest.length > 0) {
    const isLastOwn = rest.length === 1 && own === 1;
    own = Math.min(own, rest.length - 1);
    const name = rest.pop()!;
    if (name === "..") current = current.slice(0, Math.max(current.lastIndexOf("/"), 0));
    else {
      const place = `${current}/${name}`;
      if (isLastOwn) entry = place;
      const target = targetOf(place);
      if (target === null) current = place;
      else {
        places.push(place);
        if (++links > MOST_LINKS) return { places, end: place, entry: entry === "" ? place : entry };
        turnTo(target);
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
    if (error instanceof PosixError && error.errno === EACCES) return null;
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
