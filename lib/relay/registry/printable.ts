/** Controls, formats, unassigned and private characters, and what ends a line. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/**
 * A text of somebody else for a log or a terminal: on one line, and without characters that steer a terminal, which
 * become `\u{1b}`.
 *
 * @param maxLength Most UTF-16 code units of it that are shown.
 */
export function printable(text: string, maxLength: number): string {
  const shown = text.length <= maxLength ? text : text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "");
  return shown.replace(UNPRINTABLE, (char) => char === "\n" ? "\\n" : `\\u{${char.codePointAt(0)?.toString(16)}}`);
}
