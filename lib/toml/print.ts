import { keyText, stringText } from "./string.ts";
import { isArray, isTable, type TomlTable, type TomlValue } from "./value.ts";

/**
 * The document in its canonical form: of each table first the plain values, then the tables in it, each group in the
 * order of the document; inline tables become tables where they can.
 */
export function printToml(root: TomlTable): string {
  const blocks: string[] = [];
  printTable(root, [], "", blocks);
  return blocks.join("\n");
}

/** @param heading The line that opens the table; empty for the document itself. */
function printTable(table: TomlTable, path: readonly string[], heading: string, blocks: string[]): void {
  let block = heading;
  const inner: [string, TomlTable | readonly TomlTable[]][] = [];
  for (const [key, value] of table) {
    if (isTable(value) || isTableArray(value)) inner.push([key, value]);
    else block += `${keyText(key)} = ${inlineText(value)}\n`;
  }
  // A table that only holds others is opened by them; an item of an array opens itself.
  const opened = block === heading && inner.length > 0 && !heading.startsWith("[[");
  if (block !== "" && !opened) blocks.push(block);
  for (const [key, value] of inner) {
    const innerPath = [...path, keyText(key)];
    const name = innerPath.join(".");
    if (isTable(value as TomlTable)) printTable(value as TomlTable, innerPath, `[${name}]\n`, blocks);
    else for (const item of value as readonly TomlTable[]) printTable(item, innerPath, `[[${name}]]\n`, blocks);
  }
}

function isTableArray(value: TomlValue): value is readonly TomlTable[] {
  return isArray(value) && value.length > 0 && value.every(isTable);
}

function inlineText(value: TomlValue): string {
  if (typeof value === "string") return stringText(value);
  if (isArray(value)) return `[${value.map(inlineText).join(", ")}]`;
  if (!isTable(value)) return value.text;
  if (value.size === 0) return "{}";
  return `{ ${[...value].map(([key, item]) => `${keyText(key)} = ${inlineText(item)}`).join(", ")} }`;
}
