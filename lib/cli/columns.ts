import { widthOf } from "./text_width.ts";

/** Rows as lines, each column as wide as its widest cell, two blanks in between. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, widthOf(cell));
  }
  const padded = (cell: string, width: number) => cell + " ".repeat(width - widthOf(cell));
  return rows.map((row) => row.map((cell, i) => padded(cell, widths[i]!)).join("  ").trimEnd());
}
