/** Absolute paths as bytes. */

/** Bytes that need not be UTF-8, without a NUL; `.`, `..` and empty components have been resolved. */
export type NativePath = Uint8Array<ArrayBuffer>;

const SLASH = 0x2f, DOT = 0x2e;

/**
 * A path as its components say it, before any link is looked at: `.`, `..` and empty components can stand in it although
 * URLs have none, since `%2F` is a separator as well.
 *
 * @param path Absolute; returned as it is if there is nothing to do.
 */
export function normalized(path: NativePath): NativePath {
  if (isNormal(path)) return path;
  // One pass over the bytes: a path may be as long as a message, and have millions of components.
  const result = new Uint8Array(path.length);
  result[0] = SLASH;
  let length = 0;
  for (const component of split(path)) {
    if (isDots(component, 2)) length = length === 0 ? 0 : result.lastIndexOf(SLASH, length - 1);
    else if (!isDots(component, 1)) {
      result[length] = SLASH;
      result.set(component, length + 1);
      length += 1 + component.length;
    }
  }
  return result.slice(0, Math.max(1, length));
}

function isDots(component: NativePath, count: 1 | 2): boolean {
  return component.length === count && component[0] === DOT && component[count - 1] === DOT;
}

/** The names between the slashes, empty ones left out. */
export function* split(path: NativePath): Generator<NativePath, void, void> {
  for (let at = 0; at < path.length;) {
    const slash = path.indexOf(SLASH, at);
    const end = slash < 0 ? path.length : slash;
    if (end > at) yield path.subarray(at, end);
    at = end + 1;
  }
}

/** Whether every slash is followed by a name that is not made of one or two dots. */
function isNormal(path: NativePath): boolean {
  if (path.length === 1) return true;
  for (let slash = 0; slash >= 0; slash = path.indexOf(SLASH, slash + 1)) {
    let next = slash + 1;
    if (next === path.length || path[next] === SLASH) return false;
    if (path[next] !== DOT) continue;
    if (path[++next] === DOT) next++;
    if (next === path.length || path[next] === SLASH) return false;
  }
  return true;
}

/** Whether one path leads into or through the other, or is the same. */
export function isSameOrBelow(path: NativePath, above: NativePath): boolean {
  if (path.length < above.length) return false;
  for (let at = 0; at < above.length; at++) if (path[at] !== above[at]) return false;
  return path.length === above.length || path[above.length] === SLASH || above.length === 1;
}
