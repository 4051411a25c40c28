import type { ArgumentReader, Arguments, OptionSpec } from "./arguments.ts";

/**
 * Which options exclude each other, and which demand others, in the manner of clap: what it lists, and in which order.
 *
 * @param args What was given, options that a variable stands for included.
 * @throws {UsageError} With exit code 2.
 */
export function requireSense(reader: ArgumentReader, args: Arguments): void {
  const given = [...args.keys()];
  const spec = (name: string): OptionSpec => reader.specs.find((spec) => spec.name === name)!;
  refuseConflicts(reader, given, spec);
  const needed = new Set(reader.required);
  for (const name of given) {
    for (const need of allNeeds(name, spec, ({ value }) => value === args.get(name))) needed.add(need);
  }
  if ([...needed].every((name) => args.has(name))) return;
  const listed = (conditions: (name: string) => (condition: Condition) => boolean): Set<string> =>
    new Set([...needed].flatMap((name) => [...allNeeds(name, spec, conditions(name)), name]));
  const missing = [...listed((name) => ({ value }) => value === args.get(name))].filter((name) => !args.has(name));
  throw reader.error(
    ["the following required arguments were not provided:", ...missing.map((name) => reader.form(name))].join("\n  "),
    [...listed(() => () => false), ...given],
  );
}

type Condition = NonNullable<OptionSpec["needsIf"]>;

function refuseConflicts(reader: ArgumentReader, given: readonly string[], spec: (name: string) => OptionSpec): void {
  const excludes = (one: string, other: string) => spec(one).excludes?.includes(other) === true;
  for (const name of given) {
    const others = given.filter((other) => other !== name && (excludes(name, other) || excludes(other, name)));
    if (others.length === 0) continue;
    const kept = given.filter((other) => !others.includes(other));
    const needs = kept.flatMap((other) => {
      const { needs = [], needsIf } = spec(other);
      return needsIf === undefined ? needs : [...needs, needsIf.name];
    }).filter((need) => !given.includes(need));
    const forms = others.map((other) => reader.form(other));
    const list = forms.length === 1 ? ` '${forms[0]}'` : `:\n  ${forms.join("\n  ")}`;
    throw reader.error(`the argument '${reader.form(name)}' cannot be used with${list}`, [...needs, ...kept]);
  }
}

/** What an option needs, then what that needs, the last first. */
function allNeeds(
  name: string,
  spec: (name: string) => OptionSpec,
  holds: (condition: Condition) => boolean,
): string[] {
  const seen = new Set<string>();
  const stack = [name];
  const found: string[] = [];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const { needs = [], needsIf } = spec(next);
    const all = needsIf !== undefined && holds(needsIf) ? [...needs, needsIf.name] : needs;
    found.push(...all);
    stack.push(...all);
  }
  return found;
}
