/** When two answers are the same, deliberate differences considered. */
import { OUR_RULES } from "../wire/differences.ts";
import { isObject } from "../wire/match.ts";
import { canonical, parseExact } from "./exact_json.ts";

/** What a server sent in answer to one step: its replies, and whether it ended the connection. */
export interface Answer {
  /** Replies as texts in one spelling. */
  readonly replies: readonly string[];
  readonly ended: boolean;
}

/** Names that a server chose, so that each may have chosen its own. */
export interface ChosenNames {
  readonly address: string | null;
  readonly sessionId: string | null;
}

/** One spelling of a reply, without what is different by nature: addresses, ids of sessions, facts about the server. */
export function normalise(text: string, { address, sessionId }: ChosenNames): string {
  const reply = parseExact(text);
  if (isObject(reply) && isObject(reply["result"])) {
    const result = reply["result"] as Record<string, unknown>;
    if (isObject(result["environmentInfo"])) result["environmentInfo"] = "<environmentInfo>";
    if (typeof result["sessionId"] === "string") result["sessionId"] = "<sessionId>";
    if (typeof result["providerId"] === "string") (reply as Record<string, unknown>)["result"] = "<environmentInfo>";
  }
  let spelled = canonical(reply);
  if (address !== null) spelled = spelled.replaceAll(address, "<peer>");
  if (sessionId !== null) spelled = spelled.replaceAll(sessionId, "<sessionId>");
  return spelled;
}

/** Methods that we decode and do not carry out yet. */
const NOT_BUILT = /^(fs\/|http\/request$|environmentConfig\/|capabilit)/;

/** True if the reference's reply may be ours to the same message. */
export function sameReply(reference: string, ours: string, request: unknown): boolean {
  if (reference === ours) return true;
  const method = isObject(request) ? request["method"] : undefined;
  const [theirError, ourError] = [errorOf(reference), errorOf(ours)];
  if (typeof method === "string" && NOT_BUILT.test(method) && OUR_RULES.allows("methodsNotBuilt")) {
    const text = `exec-server stub does not implement \`${method}\` yet`;
    return ourError?.code === -32601 && ourError.message === text && theirError?.code !== -32602 &&
      !/^client must /.test(theirError?.message ?? "");
  }
  if (method === "process/write" && OUR_RULES.allows("writeIdOptional")) {
    return theirError?.message === "missing field `writeId`" &&
      (ourError === null || /^client must /.test(ourError.message));
  }
  return false;
}

function errorOf(reply: string): { code: unknown; message: string } | null {
  const parsed = JSON.parse(reply) as { error?: { code: unknown; message: string } };
  return parsed.error ?? null;
}
