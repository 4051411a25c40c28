/** Characters from here on may be two columns wide; those that are not leave a column free, which does no harm. */
const FIRST_WIDE = 0x2e80;
/** And Korean letters. */
const JAMO = [0x1100, 0x1200] as const;

/** How many columns of a terminal a text takes at most. */
export function widthOf(text: string): number {
  let width = 0;
  for (const char of text) {
    const code = char.codePointAt(0)!;
    width += code >= FIRST_WIDE || (code >= JAMO[0] && code < JAMO[1]) ? 2 : 1;
  }
  return width;
}

/** As much of the beginning of a text as fits into so many columns. */
export function beginningOf(text: string, columns: number): string {
  let beginning = "";
  let left = columns;
  for (const char of text) {
    left -= widthOf(char);
    if (left < 0) break;
    beginning += char;
  }
  return beginning;
}

/** As much of the end of a text as fits, after an ellipsis if something is missing. */
export function endOf(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let end = "";
  let left = columns - widthOf("…");
  for (const char of [...text].reverse()) {
    left -= widthOf(char);
    if (left < 0) break;
    end = char + end;
  }
  return `…${end}`;
}
