/** What a TOML document says, in the order in which it says it. */
export type TomlValue = string | TomlLiteral | readonly TomlValue[] | TomlTable;

export type TomlTable = ReadonlyMap<string, TomlValue>;

/** A value whose text in the canonical form stands for it: an integer keeps its 64 bits, a time its nanoseconds. */
export class TomlLiteral {
  constructor(readonly kind: "integer" | "float" | "boolean" | "datetime", readonly text: string) {}
}

export function isTable(value: TomlValue | undefined): value is TomlTable {
  return value instanceof Map;
}

export function isArray(value: TomlValue | undefined): value is readonly TomlValue[] {
  return Array.isArray(value);
}
