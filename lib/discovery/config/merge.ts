import { isTable, type TomlTable, type TomlValue } from "../../toml/value.ts";

/** What the layers say together: later ones over earlier ones, tables key by key. */
export function mergeTables(tables: readonly TomlTable[]): TomlTable {
  const merged = new Map<string, TomlValue>();
  for (const table of tables) {
    for (const [key, value] of table) {
      const below = merged.get(key);
      merged.set(key, isTable(below) && isTable(value) ? mergeTables([below, value]) : value);
    }
  }
  return merged;
}
