/** How the reference words what it found where it wanted something else. */

import { type Json, JsonNumber } from "./json.ts";

/**
 * `GOT` of `invalid type: GOT, expected WANTED`.
 *
 * @param buffered Whether the value stands below a tagged union. The reference buffers such a document before it
 * decodes it, so that its numbers are typed before they are wanted and are described by their value.
 */
export function describeJson(json: Json, buffered = false): string {
  if (json === null) return "null";
  if (typeof json === "boolean") return `boolean \`${json}\``;
  if (typeof json === "string") return `string ${quoteBeginning(json)}`;
  if (json instanceof JsonNumber) return buffered ? describeNumber(json.text) : "number";
  return json instanceof Map ? "map" : "sequence";
}

function describeNumber(text: string): string {
  return /^-?\d+$/.test(text) ? `integer \`${text}\`` : `floating point \`${text}\``;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\0": "\\0",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
  '"': '\\"',
  "\\": "\\\\",
};
/** Not printable in the reference's eyes: controls, formats, unassigned, private, separators but the space, and marks. */
const ESCAPED = /["\\]|[\p{C}\p{Zl}\p{Zp}\p{Grapheme_Extend}]|(?! )\p{Zs}/gu;

/**
 * Most UTF-16 code units of a string that are shown. The reference shows all; but each may become ten, and for a
 * message of the largest size that took longer than a minute, in which nobody else was served.
 */
const MAX_SHOWN_LENGTH = 65_536;

function quoteBeginning(text: string): string {
  if (text.length <= MAX_SHOWN_LENGTH) return quoteText(text);
  const isCut = /[\ud800-\udbff]/.test(text.charAt(MAX_SHOWN_LENGTH - 1));
  return `${quoteText(text.slice(0, MAX_SHOWN_LENGTH - (isCut ? 1 : 0)))}…`;
}

/** A text between quotes, with escapes as the reference writes them. */
export function quoteText(text: string): string {
  return `"${text.replace(ESCAPED, (char) => ESCAPES[char] ?? `\\u{${char.codePointAt(0)?.toString(16)}}`)}"`;
}
