import { isTable, type TomlTable, type TomlValue } from "./value.ts";

/** What is asked for: the whole value, or something below it. */
type Selection = Map<string, Selection> | "all";

/**
 * The document without what was not asked for. A value where a path expected a table stays: it hides what lies below it in
 * the layers before.
 *
 * @param paths Each at least one name.
 * @returns Undefined if nothing is left.
 */
export function projectToml(document: TomlTable, paths: readonly (readonly string[])[]): TomlTable | undefined {
  const selection: Selection = new Map();
  for (const path of paths) select(selection, path);
  const left = projectTable(document, selection);
  return left.size === 0 ? undefined : left;
}

function select(selection: Map<string, Selection>, path: readonly string[]): void {
  const [name, ...rest] = path as readonly [string, ...string[]];
  const inner = selection.get(name);
  if (rest.length === 0) selection.set(name, "all");
  else if (inner === undefined) select(newInner(selection, name), rest);
  else if (inner !== "all") select(inner, rest);
}

function newInner(selection: Map<string, Selection>, name: string): Map<string, Selection> {
  const inner: Selection = new Map();
  selection.set(name, inner);
  return inner;
}

function projectTable(table: TomlTable, selection: Map<string, Selection>): TomlTable {
  const left = new Map<string, TomlValue>();
  for (const [key, value] of table) {
    const inner = selection.get(key);
    if (inner === undefined) continue;
    left.set(key, inner === "all" || !isTable(value) ? value : projectTable(value, inner));
  }
  return left;
}
