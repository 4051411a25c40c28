/** When two answers are the same, deliberate differences considered. */
import type { Rules } from "../wire/differences.ts";
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

const HANDSHAKE = /^client must /;
const MALFORMED =
  /^failed to parse (websocket JSON-RPC message from exec-server websocket <peer>|JSON-RPC message from exec-server stdio): /;

/** True if the reference's reply may be ours to the same message. */
export function sameReply(reference: string, ours: string, request: unknown, { allows }: Rules): boolean {
  if (reference === ours) return true;
  const method = isObject(request) ? request["method"] : undefined;
  const [theirs, own] = [failureOf(reference), failureOf(ours)];
  if (theirs?.id === -1 && own?.id === -1 && allows("malformedReasons")) {
    return theirs.code === own.code && MALFORMED.exec(theirs.message)?.[0] === MALFORMED.exec(own.message)?.[0];
  }
  if (method === "process/write" && allows("writeIdOptional")) {
    const missing = ["missing field `writeId`", "invalid length 2, expected struct WriteParams with 3 elements"];
    return missing.includes(theirs?.message ?? "") && (own === null || HANDSHAKE.test(own.message));
  }
  return false;
}

/** The error that a reply reports, or null if it reports none. */
function failureOf(reply: string): { id: unknown; code: unknown; message: string } | null {
  const { id, error } = JSON.parse(reply) as { id: unknown; error?: { code: unknown; message: string } };
  return error === undefined ? null : { id, ...error };
}
