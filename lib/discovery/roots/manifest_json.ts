import { type Json, JsonNumber, JsonSyntaxError, parseJson } from "../../json.ts";

/** A JSON object read for some of its members: the others may be anything, but these must not be there twice. */

/** What a manifest has that we look at, in the order in which an array would have it. */
export const MANIFEST_MEMBERS = ["name", "interface", "mcpServers", "apps"] as const;

type Members = Readonly<Record<string, unknown>>;

/**
 * @param names Of members.
 * @param inner Further members that must not be there twice: each the names of objects and, last, its own.
 * @returns Undefined if it is no JSON object, is nested too deeply, or has one of the members twice.
 */
export function readMembers(text: string, names: readonly string[], ...inner: string[][]): Members | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const twice = hasTwice(text, [...names.map((name) => [name]), ...inner]);
  if (twice === undefined || twice && !Array.isArray(json)) return undefined;
  return membersOf(json, names);
}

/** An array of all members in the order of their names will do as well, as in the reference. */
export function membersOf(json: unknown, names: readonly string[]): Members | undefined {
  if (typeof json !== "object" || json === null) return undefined;
  if (!Array.isArray(json)) return json as Members;
  return json.length === names.length ? Object.fromEntries(names.map((name, at) => [name, json[at]])) : undefined;
}

/** Deeper ones count as no JSON; the reference takes any depth in members that it does not know. */
const MAX_DEPTH = 127;

/**
 * Whether an object has one of these members twice; undefined if the JSON is nested too deeply.
 *
 * @param paths Each the names of objects and, last, the member's own.
 */
function hasTwice(json: string, paths: readonly (readonly string[])[]): boolean | undefined {
  const longest = Math.max(...paths.map((path) => path.length));
  const seen = new Set<readonly string[]>();
  const path: string[] = [];
  let depth = 0;
  let twice = false;
  let last = "";
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (token === "{" || token === "[") {
      if (++depth > MAX_DEPTH) return undefined;
      // Keys within an array are of no interest: a name that no key has stands for its items.
      if (depth <= longest) path.push("\0");
    } else if (token === "}" || token === "]") {
      if (depth-- <= longest) path.pop();
    } else if (token !== ":") last = token;
    else if (depth <= longest) {
      path[depth - 1] = JSON.parse(last);
      const member = paths.find((names) => names.length === depth && names.every((name, at) => name === path[at]));
      if (member === undefined) continue;
      twice ||= seen.has(member);
      seen.add(member);
    }
  }
  return twice;
}

/**
 * One member as JSON without white space, its numbers as they are written.
 *
 * @param text A JSON object that has the member.
 */
export function memberText(text: string, name: string): string {
  try {
    const json = parseJson(text);
    if (json instanceof Map) return compact(json.get(name) as Json);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
  }
  // An array, or keys that are there twice: the last one counts, and numbers lose what they do not need.
  return JSON.stringify(membersOf(JSON.parse(text), MANIFEST_MEMBERS)?.[name]);
}

function compact(json: Json): string {
  // A plus sign before exponents that have none, as the reference's printer has it.
  if (json instanceof JsonNumber) return json.text.replace(/e(?=\d)/i, "e+").replace("E", "e");
  if (json instanceof Map) return `{${[...json].map(([key, item]) => `${JSON.stringify(key)}:${compact(item)}`)}}`;
  if (Array.isArray(json)) return `[${json.map(compact)}]`;
  return JSON.stringify(json);
}

/** A text that can leave as JSON; undefined for everything else. */
export function wellFormed(value: unknown): string | undefined {
  return typeof value === "string" && value.isWellFormed() ? value : undefined;
}
