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
  const components: NativePath[] = [];
  for (const component of split(path)) {
    if (component.length === 2 && component[0] === DOT && component[1] === DOT) components.pop();
    else if (component.length !== 1 || component[0] !== DOT) components.push(component);
  }
  const result = new Uint8Array(Math.max(1, components.reduce((sum, { length }) => sum + 1 + length, 0)));
  result[0] = SLASH;
  let at = 0;
  for (const component of components) {
    result[at] = SLASH;
    result.set(component, at + 1);
    at += 1 + component.length;
  }
  return result;
}

/** The names between the slashes, empty ones left out. */
export function split(path: NativePath): NativePath[] {
  const components: NativePath[] = [];
  for (let at = 0; at < path.length;) {
    const slash = path.indexOf(SLASH, at);
    const end = slash < 0 ? path.length : slash;
    if (end > at) components.push(path.subarray(at, end));
    at = end + 1;
  }
  return components;
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
