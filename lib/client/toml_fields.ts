import { quoteText } from "../decode_text.ts";
import { isArray, isTable, type TomlLiteral, type TomlTable, type TomlValue } from "../toml/value.ts";

/** A document that says something else than what was asked for, in the words of the reference's parser. */
export class FieldError extends Error {
  override readonly name = "FieldError";

  /** @param path The names of the fields that lead there; places in lists do not count. */
  constructor(reason: string, path: readonly string[]) {
    super(path.length === 0 ? reason : `${reason}\nin \`${path.join(".")}\``);
  }
}

/** Reads one kind of value. @throws {FieldError} */
export type FieldReader<T> = (value: TomlValue, path: readonly string[]) => T;

/** A value of another kind. */
function unexpected(value: TomlValue, expected: string, path: readonly string[]): FieldError {
  return new FieldError(`invalid type: ${kindOf(value)}, expected ${expected}`, path);
}

function kindOf(value: TomlValue): string {
  if (typeof value === "string") return `string ${quoteText(value)}`;
  if (isArray(value)) return "sequence";
  if (isTable(value)) return "map";
  switch (value.kind) {
    case "integer":
      return `integer \`${value.text}\``;
    case "float":
      return `floating point \`${value.text === "nan" ? "NaN" : value.text}\``;
    case "boolean":
      return `boolean \`${value.text}\``;
    case "datetime":
      // The reference's parser hands times over as tables.
      return "map";
  }
}

function isLiteral(value: TomlValue, ...kinds: TomlLiteral["kind"][]): value is TomlLiteral {
  return typeof value !== "string" && !isArray(value) && !isTable(value) && kinds.includes(value.kind);
}

export function readString(value: TomlValue, path: readonly string[], expected = "a string"): string {
  if (typeof value !== "string") throw unexpected(value, expected, path);
  return value;
}

export function readPath(value: TomlValue, path: readonly string[]): string {
  return readString(value, path, "path string");
}

export function readBoolean(value: TomlValue, path: readonly string[]): boolean {
  if (!isLiteral(value, "boolean")) throw unexpected(value, "a boolean", path);
  return value.text === "true";
}

export function readStrings(value: TomlValue, path: readonly string[]): string[] {
  return readList(value, path, readString);
}

export function readList<T>(value: TomlValue, path: readonly string[], read: FieldReader<T>): T[] {
  if (!isArray(value)) throw unexpected(value, "a sequence", path);
  return value.map((item) => read(item, path));
}

export function readStringMap(value: TomlValue, path: readonly string[]): Record<string, string> {
  if (!isTable(value)) throw unexpected(value, "a map", path);
  return Object.fromEntries([...value].map(([key, item]) => [key, readString(item, [...path, key])]));
}

/** The longest that a duration of the reference lasts. */
const MAX_SECONDS = 2 ** 64;

/** A number of seconds, as milliseconds. */
export function readSeconds(value: TomlValue, path: readonly string[]): number {
  if (!isLiteral(value, "integer", "float")) throw unexpected(value, "f64", path);
  const seconds = value.text.endsWith("inf") ? (value.text.startsWith("-") ? -Infinity : Infinity) : Number(value.text);
  const flaw = seconds < 0 ? "value is negative" : seconds < MAX_SECONDS ? undefined : "value is either too big or NaN";
  if (flaw !== undefined) throw new FieldError(`cannot convert float seconds to Duration: ${flaw}`, path);
  return seconds * 1000;
}

/**
 * The fields of a table, each read as its name says, in the order of the document.
 *
 * @param kind What the reference calls such a table, for whoever wrote something else in its place.
 */
export function readFields<R extends Record<string, FieldReader<unknown>>>(
  value: TomlValue,
  path: readonly string[],
  kind: string,
  readers: R,
): { readonly [K in keyof R]?: ReturnType<R[K]> } {
  if (!isTable(value)) throw unexpected(value, kind, path);
  return readTable(value, path, readers);
}

/** The same for what is a table in any case. */
export function readTable<R extends Record<string, FieldReader<unknown>>>(
  table: TomlTable,
  path: readonly string[],
  readers: R,
): { readonly [K in keyof R]?: ReturnType<R[K]> } {
  const fields: [string, unknown][] = [];
  for (const [key, value] of table) {
    if (!Object.hasOwn(readers, key)) throw unknownField(key, Object.keys(readers), path);
    fields.push([key, readers[key]!(value, [...path, key])]);
  }
  return Object.fromEntries(fields) as { [K in keyof R]?: ReturnType<R[K]> };
}

function unknownField(key: string, known: readonly string[], path: readonly string[]): FieldError {
  const names = known.map((name) => `\`${name}\``).join(", ");
  return new FieldError(`unknown field \`${key}\`, expected ${known.length > 1 ? "one of " : ""}${names}`, path);
}

/** A field that has to be there. */
export function required<T>(value: T | undefined, name: string, path: readonly string[]): T {
  if (value === undefined) throw new FieldError(`missing field \`${name}\``, path);
  return value;
}
