const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Longer than anybody waits, and far below what numbers and the wire can say. */
const MAX_DURATION_MS = 365_000 * 86_400_000;

/**
 * Reads `30s`, `5m`, `2h`, `1d`, `500ms`, `1.5h` and sums such as `1h30m`. A number alone is none: nobody knows its unit.
 *
 * @returns Milliseconds, at least 1; undefined: it is no duration (see {@linkcode durationFlaw}).
 */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|[smhd]))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, number, , unit] of text.matchAll(/(\d+(\.\d+)?)(ms|[smhd])/g)) sum += Number(number) * UNITS_MS[unit!]!;
  const ms = Math.round(sum);
  return ms >= 1 && ms <= MAX_DURATION_MS ? ms : undefined;
}

/** What is wrong with a duration, for the `check` of an option; undefined: nothing. */
export function durationFlaw(text: string): string | undefined {
  if (parseDuration(text) !== undefined) return undefined;
  return "a number with a unit is expected, more than zero and at most 365000d, such as 500ms, 30s, 5m, 2h or 1d";
}
