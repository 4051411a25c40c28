/** One spelling of what two servers answer about files of their own. */
import type { Rules } from "../../wire/differences.ts";
import { isObject } from "../../wire/match.ts";
import { canonical, parseExact } from "../exact_json.ts";
import { encoded } from "./random_uri.ts";

export interface AnswerOptions {
  /** The side's own directory; shows as `<side>`. */
  readonly directory: string;
  /** What was changed or made from then on shows as `now`, in milliseconds since 1970. */
  readonly since: number;
}

const TOO_LONG = '{"error":{"code":-32603,"message":"Filename too long (os error 36)"}';
const LOOP = '{"error":{"code":-32603,"message":"Symbolic link loop (os error 40)"}';

/** True if the reference's answer may be ours, in the spelling of {@linkcode spell}. */
export function sameAnswer(reference: string, ours: string, { allows }: Rules): boolean {
  return reference === ours || allows("growingLinkLoop") && reference.startsWith(TOO_LONG) && ours.startsWith(LOOP);
}

/** A reply without what may be different by chance: directories, times of today, the order of a directory. */
export function spell(text: string, { directory, since }: AnswerOptions): string {
  const reply = parseExact(text);
  if (isObject(reply) && isObject(reply["result"])) {
    const result = reply["result"] as Record<string, unknown>;
    for (const name of ["createdAtMs", "modifiedAtMs"]) {
      const time = result[name];
      if (typeof time === "number" && time >= since) result[name] = "now";
    }
    const entries = result["entries"];
    if (Array.isArray(entries) && entries.every((entry) => isObject(entry) && "fileName" in entry)) {
      result["entries"] = entries.map(canonical).sort();
    }
  }
  // As it is, or as a refused URI spells it.
  return canonical(reply).replaceAll(directory, "<side>").replaceAll(encoded(directory), "<side>");
}
