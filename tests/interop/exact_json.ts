/** JSON for comparison: members sorted, numbers with the digits that were sent. */

/** A number as it was written, which JSON.parse would round. */
class ExactNumber {
  constructor(readonly text: string) {}
}

/** Parses so that nothing is lost. @throws {SyntaxError} */
export function parseExact(text: string): unknown {
  const revive = (_key: string, value: unknown, context?: { source?: string }) =>
    typeof value === "number" && context?.source !== undefined && String(value) !== context.source
      ? new ExactNumber(context.source)
      : value;
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown);
}

/** One text for all spellings of a value: members by name, no white space. */
export function canonical(value: unknown): string {
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`;
}
