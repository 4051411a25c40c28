import { describeJson } from "../../decode_text.ts";
import { type Json, JsonSyntaxError, parseJson } from "../../json.ts";
import type { RegistryComplaint } from "./registry_error.ts";

/** A registry's answer is not what it should be. The message may repeat some of it. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
}

/** What an answer must have. */
export interface AnswerShape<N extends string, O extends string> {
  /** What the reference calls such an object. */
  readonly title: string;
  /** Members that must be texts. */
  readonly texts: readonly N[];
  /** Members that may be anything. */
  readonly others?: readonly O[];
}

export type Answer<N extends string, O extends string> =
  & { readonly [M in N]: string }
  & { readonly [M in O]: Json };

/**
 * Reads an object; members that nobody asked for are ignored.
 *
 * @throws {AnswerError} In the words, and with the place, of the reference's parser.
 */
export function readAnswer<N extends string, O extends string = never>(
  body: string,
  { title, texts, others = [] }: AnswerShape<N, O>,
): Answer<N, O> {
  const { value, trailing } = parsed(body);
  if (!(value instanceof Map)) {
    const end = Array.isArray(value) ? body.search(/\S/) : endOfValue(body);
    throw new AnswerError(
      `invalid type: ${describeJson(value, true)}, expected struct ${title} at ${place(body, end)}`,
    );
  }
  const members: ReadonlyMap<string, Json> = value;
  for (const [name, member] of members) {
    if (!texts.includes(name as N) || typeof member === "string") continue;
    const got = describeJson(member, true);
    throw new AnswerError(`invalid type: ${got}, expected a string at ${place(body, memberEdge(body, name))}`);
  }
  const found: Partial<Record<N | O, Json>> = {};
  for (const name of [...texts, ...others]) {
    const member = members.get(name);
    if (member === undefined) throw new AnswerError(`missing field \`${name}\` at ${place(body, endOfValue(body))}`);
    found[name] = member;
  }
  if (trailing !== undefined) throw trailing;
  return found as Answer<N, O>;
}

/** `{"valid": true}` and nothing else that could be meant. */
export function isAuthorized(body: string): boolean {
  const json = tolerated(body);
  return json instanceof Map && json.get("valid") === true;
}

/** `{"error": {"code", "message"}}` or `{"detail": …}`; undefined: the registry says it in another way. */
export function readComplaint(body: string): RegistryComplaint | undefined {
  const json = tolerated(body);
  if (!(json instanceof Map)) return undefined;
  const members = ["error", "detail"].map((name) => json.get(name) ?? null);
  if (!members.every((member) => member === null || isComplaint(member))) return undefined;
  const complaint = members.find((member) => member !== null);
  if (!(complaint instanceof Map)) return undefined;
  return { code: complaint.get("code") ?? undefined, message: complaint.get("message") ?? undefined };
}

/** Undefined: it is no JSON. */
function tolerated(body: string): Json | undefined {
  try {
    return parseJson(body, Infinity);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

/** Both members are optional. */
function isComplaint(json: Json): boolean {
  if (!(json instanceof Map)) return false;
  return ["code", "message"].every((name) => ["string", "undefined"].includes(typeof (json.get(name) ?? undefined)));
}

/** What stands before trailing characters may have a defect of its own, which is told first. */
function parsed(body: string): { value: Json; trailing?: AnswerError } {
  try {
    return { value: parseJson(body, Infinity) };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const trailing = new AnswerError(error.message);
    if (error.value === undefined) throw trailing;
    return { value: error.value, trailing };
  }
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/** Where the reference's parser stands when it refuses a member of the whole: behind a scalar, before anything else. */
function memberEdge(body: string, name: string): number {
  let depth = 0;
  let [previous, beforePrevious] = ["", ""];
  for (const { 0: token, index } of body.matchAll(TOKEN)) {
    if (depth === 1 && previous === ":" && beforePrevious.startsWith('"') && JSON.parse(beforePrevious) === name) {
      return /^[{[]/.test(token) ? index : index + token.length;
    }
    if (/^[{[]/.test(token)) depth++;
    else if (/^[}\]]/.test(token)) depth--;
    [beforePrevious, previous] = [previous, token];
  }
  return body.length;
}

/** Behind the whole value. */
function endOfValue(body: string): number {
  let depth = 0;
  for (const { 0: token, index } of body.matchAll(TOKEN)) {
    if (/^[{[]/.test(token)) depth++;
    else if (/^[}\]]/.test(token)) depth--;
    if (depth === 0) return index + token.length;
  }
  return body.length;
}

/** In lines, and in bytes of UTF-8 of the last. */
function place(body: string, end: number): string {
  const lines = body.slice(0, end).split("\n");
  return `line ${lines.length} column ${new TextEncoder().encode(lines.at(-1)).length}`;
}
