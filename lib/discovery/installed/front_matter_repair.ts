import { YamlError, YamlValue } from "./yaml.ts";
import { linesOf, trimmed } from "./text.ts";

/**
 * Many write `description: Build for AWS: ECS` or `argument-hint: [a] or [b]`, which is no YAML: puts quotes around such
 * values, line by line. Undefined if there are none.
 */
export function repairedYaml(yaml: string): string | undefined {
  let changed = false;
  let blockIndent: number | undefined;
  const lines: string[] = [];
  for (const line of linesOf(yaml)) {
    const indent = /^ */.exec(line)?.[0].length ?? 0;
    if (blockIndent !== undefined && (trimmed(line) === "" || indent > blockIndent)) {
      lines.push(line);
      continue;
    }
    blockIndent = undefined;
    const pair = pairOf(line);
    if (pair !== undefined && /^[|>]/.test(pair.scalar)) blockIndent = indent;
    const needsQuotes = pair !== undefined && isBrokenScalar(pair.scalar);
    changed ||= needsQuotes;
    lines.push(needsQuotes ? `${pair.before}'${pair.scalar.replaceAll("'", "''")}'${pair.after}` : line);
  }
  return changed ? lines.join("\n") : undefined;
}

interface Pair {
  /** Key, colon and white space. */
  readonly before: string;
  readonly scalar: string;
  /** White space and comment. */
  readonly after: string;
}

function pairOf(line: string): Pair | undefined {
  const [, key, space, value] = /^([^:]*):(\p{White_Space}*)(.*)$/su.exec(line) ?? [];
  if (key === undefined || space === undefined || value === undefined) return undefined;
  if (trimmed(key) === "" || space === "" && value !== "") return undefined;
  const scalar = trimmed(value.replace(/(?:^|(?<=\p{White_Space}))#.*$/su, ""));
  return scalar === "" ? undefined : { before: `${key}:${space}`, scalar, after: value.slice(scalar.length) };
}

function isBrokenScalar(scalar: string): boolean {
  if (/^[|>'"]/.test(scalar)) return false;
  return /:\p{White_Space}/u.test(scalar) || /^[[{@`]/.test(scalar) && !isYaml(scalar);
}

function isYaml(text: string): boolean {
  try {
    YamlValue.parse(text);
    return true;
  } catch (error) {
    if (error instanceof YamlError) return false;
    throw error;
  }
}
