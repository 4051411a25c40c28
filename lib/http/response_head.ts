import { bytesToText } from "./bytes.ts";
import { MalformedResponse } from "./failure.ts";
import type { HeaderLine } from "./header_map.ts";

/** What comes before a body. */
export interface ResponseHead {
  readonly status: number;
  /** 1 for HTTP/1.1, 0 for HTTP/1.0. */
  readonly minorVersion: 0 | 1;
  readonly headers: readonly HeaderLine[];
}

/** Most headers of one response. Source: hyper 1.11, `DEFAULT_MAX_HEADERS`. */
export const MAX_HEADERS = 100;
/** Most bytes of one head. Source: hyper 1.11, `DEFAULT_MAX_BUFFER_SIZE` (8 KiB and 100 pages of 4 KiB). */
export const MAX_HEAD_BYTES = 8192 + 4096 * 100;
/** Longest name of a header. Source: hyper's header names have a 16-bit length. */
const MAX_NAME_BYTES = 65_535;

const LF = 0x0a;
const CR = 0x0d;

/**
 * Where the head ends that begins at `start`: the index behind its empty line; undefined if that has not come yet.
 * Lines end with CR LF or, as RFC 9112 2.2 lets a recipient take it, with LF alone.
 *
 * @param from Where to look from, for a caller that has looked at the bytes before.
 */
export function endOfHead(bytes: Uint8Array, start: number, end: number, from = start): number | undefined {
  for (let at = bytes.indexOf(LF, from); at >= 0 && at < end; at = bytes.indexOf(LF, at + 1)) {
    const before = at > start && bytes[at - 1] === CR ? at - 2 : at - 1;
    if (before >= start && bytes[before] === LF) return at + 1;
  }
  return undefined;
}

/** How many of the bytes at `start` are empty lines, which may stand before a response. */
export function emptyLines(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end) {
    if (bytes[at] === LF) at++;
    else if (bytes[at] === CR && bytes[at + 1] === LF && at + 1 < end) at += 2;
    else break;
  }
  return at - start;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;

/**
 * @param bytes The whole head, without empty lines before it, its own empty line included.
 * @throws {MalformedResponse} Nothing is repaired or guessed: no folded line, no blank before a colon, no control
 * character.
 */
export function parseHead(bytes: Uint8Array): ResponseHead {
  const lines = bytesToText(bytes).split(/\r?\n/);
  const [, minor, status] = STATUS_LINE.exec(lines[0] ?? "") ?? [];
  if (minor === undefined) throw new MalformedResponse("not a status line");
  // The last two are what follows the last header's end and the empty line's.
  const headers = lines.slice(1, -2).map(parseHeader);
  if (headers.length > MAX_HEADERS) throw new MalformedResponse("too many headers");
  return { status: Number(status), minorVersion: minor === "1" ? 1 : 0, headers };
}

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * @param line Without its end.
 * @throws {MalformedResponse}
 */
export function parseHeader(line: string): HeaderLine {
  const colon = line.indexOf(":");
  const name = line.slice(0, colon);
  const value = line.slice(colon + 1);
  if (colon < 0 || !NAME.test(name) || !VALUE.test(value)) throw new MalformedResponse("not a header");
  if (name.length > MAX_NAME_BYTES) throw new MalformedResponse("too long a header name");
  return [name.toLowerCase(), trimBlanks(value)];
}

/** By hand: a pattern that ends in `[\t ]+$` takes seconds for a value that is long and blank. */
function trimBlanks(text: string): string {
  const isBlank = (at: number) => text[at] === " " || text[at] === "\t";
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(start)) start++;
  while (end > start && isBlank(end - 1)) end--;
  return text.slice(start, end);
}
