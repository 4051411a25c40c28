/** Replies of a helper as they arrive. It works on what clients and programs have made, so it is not believed blindly. */

import { decodeMessage, type Failure, type Reply } from "./messages.ts";

/** It says what it cannot say. */
export class MalformedReply extends Error {
  override name = "MalformedReply";
}

type Fields = Readonly<Record<string, unknown>>;

/** Those that operations on files fail with. */
const FAILURES: readonly unknown[] = ["invalidRequest", "notFound", "internal"] satisfies Failure["kind"][];

/**
 * What comes of a deed is handed on as it is.
 *
 * @throws {MalformedReply}
 */
export function decodeReply(body: Uint8Array): Reply {
  const reply = parsed(body);
  if (!isRecord(reply) || !isReply(reply)) throw new MalformedReply();
  return reply as unknown as Reply;
}

function parsed(body: Uint8Array): unknown {
  try {
    return decodeMessage(body);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new MalformedReply();
  }
}

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isReply(reply: Fields): boolean {
  const names = Object.keys(reply);
  const has = (...wanted: string[]): boolean =>
    names.length === wanted.length && wanted.every((name) => Object.hasOwn(reply, name));
  if (has("part", "items")) {
    return (reply["part"] === "entries" || reply["part"] === "errors") && Array.isArray(reply["items"]);
  }
  if (has("failed")) return isFailure(reply["failed"]);
  if (has("cancelled")) return reply["cancelled"] === true;
  if (has("broken")) return typeof reply["broken"] === "string";
  return has("done");
}

function isFailure(failed: unknown): boolean {
  if (!isRecord(failed)) return false;
  const { kind, message, errno } = failed;
  return FAILURES.includes(kind) && typeof message === "string" && (errno === null || Number.isInteger(errno));
}
