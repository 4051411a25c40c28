/** Texts as Rust's standard library sees them: its white space is not quite JavaScript's. */

export function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charAt(start))) start++;
  while (end > start && isSpace(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

function isSpace(character: string): boolean {
  return /^\p{White_Space}$/u.test(character);
}

/** On one line: words with single spaces between them. */
export function singleLine(text: string): string {
  return trimmed(text.replace(/\p{White_Space}+/gu, " "));
}

/** In Unicode scalar values. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

/** Without the line feeds and a carriage return before each. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => line.endsWith("\r") ? line.slice(0, -1) : line);
}
