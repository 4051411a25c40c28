import { type AST, ParseError, parseTOML } from "toml-eslint-parser";
import { datetimeText, floatText } from "./literal.ts";
import { tooDeepAt } from "./nesting.ts";
import { TomlLiteral, type TomlTable, type TomlValue } from "./value.ts";

/** The document breaks the rules of TOML 1.1. */
export class TomlError extends Error {
  override readonly name = "TomlError";

  /**
   * @param line From 1 on.
   * @param column From 1 on.
   * @param reason Without a word of the document itself.
   */
  constructor(readonly line: number, readonly column: number, readonly reason: string) {
    super(`${line}:${column}: ${reason}`);
  }
}

/** Tables while they are being filled. */
type Table = Map<string, TomlValue>;

/**
 * @throws {TomlError}
 */
export function readToml(document: string): TomlTable {
  const text = document.startsWith("\uFEFF") ? document.slice(1) : document;
  refuseDepth(text);
  let program: AST.TOMLProgram;
  try {
    program = parseTOML(text, { tomlVersion: "1.1" });
  } catch (error) {
    // The parser makes each character of a string an argument of one call: about 120 000 of them are too many.
    if (error instanceof RangeError) throw new TomlError(1, 1, "the document has a string that is too long");
    if (!(error instanceof ParseError)) throw error;
    throw new TomlError(error.lineNumber, error.column + 1, error.message);
  }
  refuseLoneReturns(text);
  const root: Table = new Map();
  for (const node of program.body[0].body) {
    if (node.type === "TOMLKeyValue") assign(root, node);
    else openTable(root, node);
  }
  return root;
}

function refuseDepth(text: string): void {
  const found = tooDeepAt(text);
  if (found !== undefined) throw errorAt(text, found.offset, found.reason);
}

/** The parser takes one at the beginning of a line for a space. */
function refuseLoneReturns(text: string): void {
  const at = text.search(/\r(?!\n)/);
  if (at === -1) return;
  throw errorAt(text, at + 1, "carriage return must be followed by newline, expected newline");
}

function errorAt(text: string, offset: number, reason: string): TomlError {
  const lines = text.slice(0, offset).split("\n");
  return new TomlError(lines.length, [...lines.at(-1) as string].length + 1, reason);
}

/** The parser has seen to it that what is there is of the right kind. */
function openTable(root: Table, node: AST.TOMLTable): void {
  const names = keyNames(node.key);
  const last = names.pop() as string;
  const parent = descend(root, names);
  let table: Table;
  if (node.kind === "array") {
    table = new Map();
    const items = parent.get(last) as TomlValue[] | undefined;
    if (items === undefined) parent.set(last, [table]);
    else items.push(table);
  } else {
    // One that was there only for tables in it counts from where it is opened itself.
    table = parent.get(last) as Table | undefined ?? new Map();
    parent.delete(last);
    parent.set(last, table);
  }
  for (const pair of node.body) assign(table, pair);
}

function assign(table: Table, node: AST.TOMLKeyValue): void {
  const names = keyNames(node.key);
  const last = names.pop() as string;
  descend(table, names).set(last, valueOf(node.value));
}

/** Into the table of that name, the newest one if there are several; makes what is missing. */
function descend(table: Table, names: readonly string[]): Table {
  for (const name of names) {
    let next = table.get(name);
    if (next === undefined) table.set(name, next = new Map());
    table = (Array.isArray(next) ? next.at(-1) : next) as Table;
  }
  return table;
}

function keyNames(key: AST.TOMLKey): string[] {
  return key.keys.map((part) => part.type === "TOMLBare" ? part.name : part.value);
}

function valueOf(node: AST.TOMLContentNode): TomlValue {
  if (node.type === "TOMLArray") return node.elements.map(valueOf);
  if (node.type === "TOMLInlineTable") {
    const table: Table = new Map();
    for (const pair of node.body) assign(table, pair);
    return table;
  }
  switch (node.kind) {
    case "string":
      return node.value;
    case "boolean":
      return new TomlLiteral("boolean", String(node.value));
    case "integer":
      return integer(node);
    case "float":
      return float(node);
    default:
      return new TomlLiteral("datetime", datetimeText(node.datetime));
  }
}

function integer(node: AST.TOMLIntegerValue): TomlLiteral {
  if (BigInt.asIntN(64, node.bigint) !== node.bigint) throw outOfRange(node, "u64 value was too large");
  return new TomlLiteral("integer", String(node.bigint));
}

function float(node: AST.TOMLFloatValue): TomlLiteral {
  if (!Number.isFinite(node.value) && !/[a-z]{3}$/.test(node.number)) {
    throw outOfRange(node, "floating-point number overflowed");
  }
  return new TomlLiteral("float", floatText(node.value));
}

function outOfRange(node: AST.TOMLNumberValue, reason: string): TomlError {
  return new TomlError(node.loc.start.line, node.loc.start.column + 1, reason);
}
