/**
 * An environment as a program gets it, `NAME=value`. The reference hands variables over in the order of their names'
 * bytes, and programs such as `env` show it.
 */
export function sortedVariables(env: ReadonlyMap<string, string>): string[] {
  return [...env].sort(([one], [other]) => compareAsUtf8(one, other)).map(([name, value]) => `${name}=${value}`);
}

function compareAsUtf8(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index++) {
    const difference = utf8Rank(one.charCodeAt(index)) - utf8Rank(other.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

/** In UTF-8 what needs surrogates sorts last, in UTF-16 before U+E000. */
function utf8Rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
