/** What may stand in the head of a request: the same that the reference lets pass. */

import { bytesToText } from "./bytes.ts";
import type { HeaderLine } from "./header_map.ts";

/** Longest name of a header, in bytes. Source: asked of the reference. */
const MAX_NAME_BYTES = 65_535;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Whether this is a token as RFC 9110 has it; its case is kept. */
export function isMethod(text: string): boolean {
  return TOKEN.test(text);
}

export function isHeaderName(text: string): boolean {
  return text.length <= MAX_NAME_BYTES && TOKEN.test(text);
}

/** Everything but control characters, of which a tab may stay: nothing can end the line. */
export function isHeaderValue(text: string): boolean {
  // deno-lint-ignore no-control-regex -- they are what is looked for
  return !/[\0-\x08\x0a-\x1f\x7f]/.test(text);
}

/** The line as it leaves: the value is sent in UTF-8. */
export function headerLine(name: string, value: string): HeaderLine {
  return [name.toLowerCase(), utf8(value)];
}

/** The UTF-8 of a text, each byte in one character. */
function utf8(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : bytesToText(new TextEncoder().encode(text));
}
