/** Paths as bytes: they need not be UTF-8. */

const DOT = 0x2e;
const SLASH = 0x2f;
const COLON = 0x3a;
const SEPARATOR = new Uint8Array([SLASH]);

export function isAbsolute(path: Uint8Array): boolean {
  return path[0] === SLASH;
}

export function hasSlash(path: Uint8Array): boolean {
  return path.includes(SLASH);
}

/** An absolute path stays itself; an empty one leaves the base with a slash at its end. */
export function join(base: Uint8Array, path: Uint8Array): Uint8Array {
  if (isAbsolute(path)) return path;
  return base.length === 0 || base.at(-1) === SLASH ? concat(base, path) : concat(base, SEPARATOR, path);
}

/** With a slash at its end a path names nothing but a directory. */
export function asDirectory(path: Uint8Array): Uint8Array {
  return concat(path, SEPARATOR);
}

/** Directories of a PATH; an empty one, also the only one of an empty PATH, means the working directory. */
export function splitSearchPath(path: Uint8Array): Generator<Uint8Array> {
  return split(path, COLON);
}

/**
 * Without dots that stand alone and without doubled slashes; `..` stays, since where it leads depends on links. Two
 * slashes at the beginning stay as well: POSIX lets them mean something of their own.
 *
 * @param base Where a relative path begins: an absolute path.
 */
export function normalise(path: Uint8Array, base: () => Uint8Array): Uint8Array {
  const names = [...split(path, SLASH)].filter((name) => name.length > 0 && !(name.length === 1 && name[0] === DOT));
  const isDoubled = path[1] === SLASH && path[2] !== SLASH;
  const start = !isAbsolute(path) ? base() : isDoubled ? asDirectory(SEPARATOR) : SEPARATOR;
  return names.reduce(join, start);
}

function* split(bytes: Uint8Array, separator: number): Generator<Uint8Array> {
  let start = 0;
  for (let end = bytes.indexOf(separator); end !== -1; end = bytes.indexOf(separator, start)) {
    yield bytes.subarray(start, end);
    start = end + 1;
  }
  yield bytes.subarray(start);
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const result = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    result.set(part, offset);
    offset += part.length;
  }
  return result;
}
