/**
 * JSON as the wire needs it: numbers keep their text, objects keep the order of their members and refuse a repeated
 * key, and depth and size are bounded. `JSON.parse` does none of the three.
 *
 * The sentences of the errors and the places they name are those of the reference's parser: a place is a line and the
 * number of UTF-8 bytes read of it, and whether the offending byte itself counts as read differs per sentence.
 */

import { stringDefect } from "./json_string.ts";

export { copyString, toWellFormedJson } from "./json_text.ts";

/** A number as it was written, but for -0, which is 0; the decoder that wants one says which form it accepts. */
export class JsonNumber {
  constructor(readonly text: string) {}
}

/** Members in the order in which they were sent; a Map, so that `__proto__` is a name like any other. */
export type JsonObject = ReadonlyMap<string, Json>;
export type Json = null | boolean | string | JsonNumber | readonly Json[] | JsonObject;

/** Most values in one message to a server: every scalar, array and object counts, the root too; keys do not. */
export const MAX_JSON_VALUES = 262_144;
/** Deepest nesting, the root included. */
export const MAX_JSON_DEPTH = 127;

/** Why a text is not JSON that we accept; the message ends with the place. */
export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";

  /**
   * @param value Only with `trailing characters`: what stood before them. The reference looks at the value first, so
   * a value that is refused anyway is refused for its own reason.
   */
  constructor(message: string, readonly value?: Json) {
    super(message);
  }
}

/**
 * Parses one JSON text.
 *
 * Strings may share memory with `text`: keep one for long only as a copy (`copyString`).
 *
 * @param text Well-formed Unicode, as every decoder of UTF-8 yields it.
 * @param maxValues Most values in it.
 * @throws {JsonSyntaxError} If the text is not JSON, repeats a key, escapes a lone surrogate, or is too large.
 */
export function parseJson(text: string, maxValues: number = MAX_JSON_VALUES): Json {
  return new Parser(text, maxValues).parse();
}

const TAB = 0x09, LINE_FEED = 0x0a, RETURN = 0x0d, SPACE = 0x20;
const QUOTE = 0x22, PLUS = 0x2b, COMMA = 0x2c, MINUS = 0x2d, POINT = 0x2e, ZERO = 0x30, NINE = 0x39, COLON = 0x3a;
const OPEN_BRACKET = 0x5b, BACKSLASH = 0x5c, CLOSE_BRACKET = 0x5d, OPEN_BRACE = 0x7b, CLOSE_BRACE = 0x7d;

class Parser {
  readonly #text: string;
  readonly #maxValues: number;
  #at = 0;
  #values = 0;
  #depth = 0;

  constructor(text: string, maxValues: number) {
    this.#text = text;
    this.#maxValues = maxValues;
  }

  parse(): Json {
    this.#skipSpace();
    const value = this.#value();
    this.#skipSpace();
    if (this.#at < this.#text.length) {
      throw new JsonSyntaxError(this.#sentence("trailing characters", this.#at, 1), value);
    }
    return value;
  }

  /** The value that starts here; white space has been skipped. */
  #value(): Json {
    const start = this.#at;
    const code = this.#text.charCodeAt(start);
    if (Number.isNaN(code)) throw this.#endOfText("a value");
    if (++this.#values > this.#maxValues) {
      const limit = `JSON-RPC message exceeds the limit of ${this.#maxValues} JSON values`;
      throw this.#error(limit, start, code === CLOSE_BRACE ? 1 : 0);
    }
    switch (code) {
      case QUOTE:
        this.#at++;
        return this.#string();
      case OPEN_BRACE:
      case OPEN_BRACKET: {
        if (++this.#depth > MAX_JSON_DEPTH) throw this.#error("recursion limit exceeded", start, 1);
        this.#at++;
        const container = code === OPEN_BRACE ? this.#object() : this.#array();
        this.#depth--;
        return container;
      }
      case 0x74:
        return this.#word("true", true);
      case 0x66:
        return this.#word("false", false);
      case 0x6e:
        return this.#word("null", null);
      default:
        if (code === MINUS || isDigit(code)) return this.#number();
        throw this.#error("expected value", start, 1);
    }
  }

  #object(): JsonObject {
    const members = new Map<string, Json>();
    let code = this.#skipSpace();
    if (code === CLOSE_BRACE) {
      this.#at++;
      return members;
    }
    for (;;) {
      if (code !== QUOTE) throw this.#keyExpected(code, members.size === 0);
      this.#at++;
      const key = this.#string();
      code = this.#skipSpace();
      if (members.has(key)) {
        throw this.#error(`duplicate JSON object key \`${key}\``, this.#at, code === CLOSE_BRACE ? 1 : 0);
      }
      if (code !== COLON) {
        if (Number.isNaN(code)) throw this.#endOfText("an object");
        throw this.#error("expected `:`", this.#at, 1);
      }
      this.#at++;
      this.#skipSpace();
      members.set(key, this.#value());
      code = this.#skipSpace();
      if (code === CLOSE_BRACE) {
        this.#at++;
        return members;
      }
      if (code !== COMMA) {
        if (Number.isNaN(code)) throw this.#endOfText("an object");
        throw this.#error("expected `,` or `}`", this.#at, 1);
      }
      this.#at++;
      code = this.#skipSpace();
    }
  }

  #keyExpected(code: number, first: boolean): JsonSyntaxError {
    if (Number.isNaN(code)) return this.#endOfText(first ? "an object" : "a value");
    if (code === CLOSE_BRACE) return this.#error("trailing comma", this.#at, 1);
    return this.#error("key must be a string", this.#at, 1);
  }

  #array(): Json[] {
    const items: Json[] = [];
    let code = this.#skipSpace();
    if (code === CLOSE_BRACKET) {
      this.#at++;
      return items;
    }
    if (Number.isNaN(code)) throw this.#endOfText("a list");
    for (;;) {
      items.push(this.#value());
      code = this.#skipSpace();
      if (code === CLOSE_BRACKET) {
        this.#at++;
        return items;
      }
      if (code !== COMMA) {
        if (Number.isNaN(code)) throw this.#endOfText("a list");
        throw this.#error("expected `,` or `]`", this.#at, 1);
      }
      this.#at++;
      if (this.#skipSpace() === CLOSE_BRACKET) throw this.#error("trailing comma", this.#at, 1);
    }
  }

  /** The rest of a string, behind its opening quote. */
  #string(): string {
    const text = this.#text;
    const start = this.#at;
    let end = start;
    let plainFrom = start;
    let escaped = false;
    for (;;) {
      const code = text.charCodeAt(end);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        escaped = true;
        end += 2;
        plainFrom = end;
      } else if (code >= SPACE) {
        end++;
        if (end - plainFrom > LONG_STRING_CHARS) {
          const whole = plainFrom === start ? longString(text, start) : undefined;
          if (whole !== undefined) {
            this.#at = start + whole.length + 1;
            return whole;
          }
          end = endOfPlain(text, end);
        }
      } else {
        throw this.#stringError(start);
      }
    }
    this.#at = end + 1;
    if (!escaped) return text.slice(start, end);
    let unescaped: string;
    try {
      unescaped = JSON.parse(text.slice(start - 1, end + 1));
    } catch {
      throw this.#stringError(start);
    }
    // The text itself holds no lone surrogate, so one in the string was written as an escape.
    if (!unescaped.isWellFormed()) throw this.#stringError(start);
    return unescaped;
  }

  #number(): JsonNumber {
    const text = this.#text;
    const start = this.#at;
    let at = start;
    let code = text.charCodeAt(at);
    if (code === MINUS) code = text.charCodeAt(++at);
    if (code === ZERO) {
      code = text.charCodeAt(++at);
      if (isDigit(code)) throw this.#error("invalid number", at, 1);
    } else {
      if (!isDigit(code)) throw this.#digitExpected(at);
      while (isDigit(code)) code = text.charCodeAt(++at);
    }
    if (code === POINT) {
      code = text.charCodeAt(++at);
      if (!isDigit(code)) throw this.#digitExpected(at);
      while (isDigit(code)) code = text.charCodeAt(++at);
    }
    if (code === 0x65 || code === 0x45) {
      code = text.charCodeAt(++at);
      if (code === PLUS || code === MINUS) code = text.charCodeAt(++at);
      if (!isDigit(code)) throw this.#digitExpected(at);
      while (isDigit(code)) code = text.charCodeAt(++at);
    }
    this.#at = at;
    const number = text.slice(start, at);
    return new JsonNumber(number === "-0" ? "0" : number);
  }

  #digitExpected(at: number): JsonSyntaxError {
    return at >= this.#text.length ? this.#endOfText("a value") : this.#error("invalid number", at, 1);
  }

  #word<T extends boolean | null>(word: string, value: T): T {
    if (this.#text.startsWith(word, this.#at)) {
      this.#at += word.length;
      return value;
    }
    let same = 1;
    while (this.#text[this.#at + same] === word[same]) same++;
    const at = this.#at + same;
    throw at >= this.#text.length ? this.#endOfText("a value") : this.#error("expected ident", at, 1);
  }

  /** Moves to the next character that is no white space and returns it; NaN at the end of the text. */
  #skipSpace(): number {
    const text = this.#text;
    let code = text.charCodeAt(this.#at);
    while (code <= SPACE && (code === SPACE || code === LINE_FEED || code === RETURN || code === TAB)) {
      code = text.charCodeAt(++this.#at);
    }
    return code;
  }

  #stringError(start: number): JsonSyntaxError {
    const { reason, at, bytes } = stringDefect(this.#text, start);
    return this.#error(reason, at, bytes);
  }

  #endOfText(inside: string): JsonSyntaxError {
    return this.#error(`EOF while parsing ${inside}`, this.#text.length, 0);
  }

  #error(reason: string, at: number, bytes: number): JsonSyntaxError {
    return new JsonSyntaxError(this.#sentence(reason, at, bytes));
  }

  /** @param bytes How many bytes behind the character index `at` have been read as well. */
  #sentence(reason: string, at: number, bytes: number): string {
    const before = new TextEncoder().encode(this.#text.slice(0, at)).length;
    const read = new TextEncoder().encode(this.#text.slice(0, at + bytes)).subarray(0, before + bytes);
    let line = 1;
    for (const byte of read) if (byte === LINE_FEED) line++;
    return `${reason} at line ${line} column ${read.length - (read.lastIndexOf(LINE_FEED) + 1)}`;
  }
}

/**
 * A string without escapes of more than {@linkcode VERY_LONG_STRING_CHARS}, by the engine's own parser: a megabyte of
 * base64 takes a fifth of the time (measured). Undefined if it is none: then the other ways find out what it is.
 */
function longString(text: string, start: number): string | undefined {
  const end = text.indexOf('"', start + LONG_STRING_CHARS);
  if (end - start <= VERY_LONG_STRING_CHARS) return undefined;
  try {
    const value: string = JSON.parse(text.slice(start - 1, end + 1));
    return value.length === end - start ? value : undefined;
  } catch {
    return undefined;
  }
}

const VERY_LONG_STRING_CHARS = 4096;
/** Beyond this many characters a regular expression finds the end of a string four times as fast as a loop (measured). */
const LONG_STRING_CHARS = 32;
// deno-lint-ignore no-control-regex
const PLAIN = /[^"\\\x00-\x1f]*/y;

function endOfPlain(text: string, from: number): number {
  PLAIN.lastIndex = from;
  PLAIN.test(text);
  return PLAIN.lastIndex;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** Plain JavaScript values, as `JSON.parse` would have made them. */
export function plainJson(json: Json): unknown {
  if (json instanceof JsonNumber) return Number(json.text);
  if (json instanceof Map) {
    return Object.fromEntries([...json as JsonObject].map(([key, member]) => [key, plainJson(member)]));
  }
  return Array.isArray(json) ? json.map(plainJson) : json;
}
