/**
 * Patterns for names of files: `*` and `?` stay within one name, `**` alone between slashes stands for any number of
 * directories (at the end: for everything below), `[a-z]` and `[!a-z]` for one character, `{a,b}` for either, and a
 * backslash takes the meaning from what follows. A `[` that is not closed is a character like others.
 */

/** Longest pattern in bytes: the longest path of the system. */
const MAX_PATTERN_BYTES = 4096;
/** Most patterns that the braces of one may stand for. */
const MAX_ALTERNATIVES = 256;
/** Braces within braces. */
const MAX_BRACE_DEPTH = 16;

export interface CharacterClass {
  readonly negated: boolean;
  /** First and last code point of each; a byte that is no UTF-8 counts from {@linkcode NO_UTF8} on. */
  readonly ranges: readonly (readonly [number, number])[];
}

/** A string is one byte that stands for itself. */
type Token = string | CharacterClass | typeof ANY | typeof MANY | typeof SLASH;

const ANY = Symbol("?");
const MANY = Symbol("*");
const SLASH = Symbol("/");

/** Any number of directories. */
export const DEEP = Symbol("**");

/** What one name has to look like, or {@linkcode DEEP}. */
export type Segment = readonly Token[] | typeof DEEP;

export const NO_UTF8 = 0x110000;

export class PatternError extends Error {
  override readonly name = "PatternError";
}

/** Whether a pattern may stand for anything but one path. */
export function hasWildcard(pattern: string): boolean {
  return /[*?[\]{}]/.test(pattern);
}

/**
 * The patterns without braces that a pattern stands for, each by its names; `.`, `..` and empty names have been resolved.
 *
 * @param pattern Bytes, absolute.
 * @throws {PatternError} Says what is wrong with it.
 */
export function parsePattern(pattern: string): Segment[][] {
  if (pattern.length > MAX_PATTERN_BYTES) throw new PatternError(`it is longer than ${MAX_PATTERN_BYTES} bytes`);
  const [alternatives, end] = sequences(pattern, 0, 0);
  if (end < pattern.length) throw new PatternError("a `}` without a `{`; `[}]` stands for the character");
  return alternatives.map(segments);
}

/** All that the text from `at` on may be, up to its end or to the comma or brace that ends it. */
function sequences(pattern: string, at: number, depth: number): [Token[][], number] {
  let results: Token[][] = [[]];
  const append = (token: Token) => results.forEach((tokens) => tokens.push(token));
  while (at < pattern.length) {
    const character = pattern[at]!;
    if (character === "}" || (character === "," && depth > 0)) break;
    if (character === "{") {
      const [choices, end] = alternatives(pattern, at + 1, depth + 1);
      if (results.length * choices.length > MAX_ALTERNATIVES) {
        throw new PatternError(`its braces stand for more than ${MAX_ALTERNATIVES} patterns`);
      }
      results = results.flatMap((tokens) => choices.map((choice) => [...tokens, ...choice]));
      at = end;
    } else if (character === "[") {
      const [token, end] = characterClass(pattern, at);
      append(token);
      at = end;
    } else {
      if (character === "\\" && ++at === pattern.length) throw new PatternError("nothing follows its last backslash");
      append(character === "\\" ? literal(pattern[at]!) : special(character));
      at++;
    }
  }
  return [results, at];
}

/** From behind a brace up to behind the one that closes it. */
function alternatives(pattern: string, at: number, depth: number): [Token[][], number] {
  if (depth > MAX_BRACE_DEPTH) throw new PatternError(`its braces are nested more than ${MAX_BRACE_DEPTH} deep`);
  const choices: Token[][] = [];
  for (;;) {
    const [found, end] = sequences(pattern, at, depth);
    choices.push(...found);
    if (choices.length > MAX_ALTERNATIVES) {
      throw new PatternError(`its braces stand for more than ${MAX_ALTERNATIVES} patterns`);
    }
    if (pattern[end] === undefined) throw new PatternError("a `{` without a `}`; `[{]` stands for the character");
    at = end + 1;
    if (pattern[end] === "}") return [choices, at];
  }
}

function special(character: string): Token {
  return character === "*" ? MANY : character === "?" ? ANY : literal(character);
}

function literal(character: string): Token {
  return character === "/" ? SLASH : character;
}

/** A class and where it ends, or the bracket itself. */
function characterClass(pattern: string, start: number): [Token, number] {
  let at = start + 1;
  const negated = pattern[at] === "!" || pattern[at] === "^";
  if (negated) at++;
  // A bracket at the beginning closes nothing.
  const first = at;
  const ranges: [number, number][] = [];
  while (at < pattern.length && (pattern[at] !== "]" || at === first)) {
    const [low, lowLength] = characterAt(pattern, at);
    at += lowLength;
    let high = low;
    if (pattern[at] === "-" && at + 1 < pattern.length && pattern[at + 1] !== "]") {
      const [last, lastLength] = characterAt(pattern, at + 1);
      high = last;
      at += 1 + lastLength;
    }
    ranges.push([low, high]);
  }
  if (at >= pattern.length) return ["[", start + 1];
  const text = pattern.slice(start, at + 1);
  if (text.includes("/")) throw new PatternError(`\`${text}\` names a slash, which no name has`);
  if (ranges.some(([low, high]) => low > high)) {
    throw new PatternError(`\`${text}\` has a range that ends before it begins`);
  }
  return [{ negated, ranges }, at + 1];
}

function segments(tokens: readonly Token[]): Segment[] {
  const result: Segment[] = [];
  const add = (name: readonly Token[]): void => {
    if (name.length === 0 || isDots(name, 1)) return;
    if (isDots(name, 2)) result.pop();
    else result.push(name.length === 2 && name[0] === MANY && name[1] === MANY ? DEEP : name);
  };
  let start = 0;
  for (let at = tokens.indexOf(SLASH); at >= 0; at = tokens.indexOf(SLASH, start)) {
    add(tokens.slice(start, at));
    start = at + 1;
  }
  add(tokens.slice(start));
  return result;
}

function isDots(name: readonly Token[], count: number): boolean {
  return name.length === count && name.every((token) => token === ".");
}

/** The name that a segment stands for; undefined if it may be several. */
export function literalName(segment: Segment): string | undefined {
  if (segment === DEEP || !segment.every((token) => typeof token === "string")) return undefined;
  return segment.join("");
}

/** Whether a name, in bytes, looks like that. */
export function matchesName(segment: readonly Token[], name: string): boolean {
  let token = 0, at = 0;
  // Where to go on if what follows the last `*` does not fit: it takes one byte more.
  let retryToken = -1, retryAt = 0;
  while (token < segment.length || at < name.length) {
    if (segment[token] === MANY) {
      retryToken = ++token;
      retryAt = at;
      continue;
    }
    const length = token < segment.length && at < name.length ? matchedLength(segment[token]!, name, at) : 0;
    if (length > 0) {
      token++;
      at += length;
    } else if (retryToken >= 0 && retryAt < name.length) {
      token = retryToken;
      at = ++retryAt;
    } else return false;
  }
  return true;
}

/** How many bytes of a name a token stands for; 0: it does not fit. */
function matchedLength(token: Token, name: string, at: number): number {
  if (typeof token === "string") return name[at] === token ? 1 : 0;
  const [character, length] = characterAt(name, at);
  if (typeof token === "symbol") return length;
  return token.ranges.some(([low, high]) => low <= character && character <= high) !== token.negated ? length : 0;
}

/** The code point of the UTF-8 sequence that begins there, and its bytes; a byte that begins none is by itself. */
function characterAt(bytes: string, at: number): [number, number] {
  const first = bytes.charCodeAt(at);
  if (first < 0x80) return [first, 1];
  const length = first >= 0xf0 && first < 0xf8
    ? 4
    : first >= 0xe0 && first < 0xf0
    ? 3
    : first >= 0xc2 && first < 0xe0
    ? 2
    : 1;
  let value = length === 1 ? 0 : first & (0xff >> (length + 1));
  for (let index = 1; index < length; index++) {
    const byte = bytes.charCodeAt(at + index);
    if (!(byte >= 0x80 && byte < 0xc0)) return [NO_UTF8 + first, 1];
    value = (value << 6) | (byte & 0x3f);
  }
  return length === 1 ? [NO_UTF8 + first, 1] : [value, length];
}
