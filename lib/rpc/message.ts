/** One text ⇄ one request, notification, response or error. */

import { type Json, JsonNumber, type JsonObject, parseJson, toWellFormedJson } from "../json.ts";
import type { TraceContext } from "../observer.ts";
import type { Message } from "./connection.ts";
import type { RpcError } from "./error_code.ts";

export interface RequestMessage {
  readonly kind: "request";
  /** The id as JSON text, echoed as it came: integers beyond 2^53 stay exact. */
  readonly id: string;
  readonly method: string;
  /** Absent params are null. */
  readonly params: Json;
  readonly trace: TraceContext | undefined;
}
export interface NotificationMessage {
  readonly kind: "notification";
  readonly method: string;
  readonly params: Json;
}
export interface ResponseMessage {
  readonly kind: "response";
  readonly id: string;
  readonly outcome: { readonly result: Json } | { readonly error: RpcError };
}
export type Incoming = RequestMessage | NotificationMessage | ResponseMessage;

/** A message that is none of the four forms; the text is the reason that the peer is told. */
export class MalformedMessage extends Error {
  override readonly name = "MalformedMessage";
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads one message.
 *
 * @throws {MalformedMessage} The connection stays usable: answer it under the id -1.
 */
export function decodeMessage(message: Message): Incoming {
  let json: Json;
  try {
    json = parseJson(typeof message === "string" ? message : utf8.decode(message));
  } catch (error) {
    throw new MalformedMessage((error as Error).message, { cause: error });
  }
  if (!(json instanceof Map)) throw new MalformedMessage("expected a JSON-RPC object");
  return classify(json);
}

/** `method` and `id`: a request; `method` alone: a notification; `id` and `result`: a response; else an error. */
function classify(object: JsonObject): Incoming {
  if (object.has("method")) {
    if (!object.has("id")) {
      return { kind: "notification", method: text(object.get("method")), params: object.get("params") ?? null };
    }
    return {
      kind: "request",
      id: idText(object.get("id")),
      method: text(object.get("method")),
      params: object.get("params") ?? null,
      trace: traceContext(object.get("trace") ?? null),
    };
  }
  if (object.has("result") && object.has("id")) {
    return { kind: "response", id: idText(object.get("id")), outcome: { result: object.get("result") ?? null } };
  }
  return { kind: "response", ...errorReply(object) };
}

function errorReply(object: JsonObject): { id: string; outcome: { error: RpcError } } {
  if (!object.has("error")) throw new MalformedMessage("missing field `error`");
  const error = object.get("error");
  if (!(error instanceof Map)) {
    throw new MalformedMessage(`invalid type: ${described(error)}, expected struct JSONRPCErrorError`);
  }
  const code = error.get("code");
  if (code === undefined) throw new MalformedMessage("missing field `code`");
  if (!(code instanceof JsonNumber)) throw new MalformedMessage(`invalid type: ${described(code)}, expected i64`);
  if (!error.has("message")) throw new MalformedMessage("missing field `message`");
  const data = error.get("data");
  return {
    id: idText(object.get("id")),
    outcome: {
      error: {
        code: Number(code.text),
        message: text(error.get("message")),
        ...(data === undefined ? {} : { data: plain(data) }),
      },
    },
  };
}

const MAX_I64 = 2n ** 63n - 1n;

function idText(id: Json | undefined): string {
  if (typeof id === "string") return JSON.stringify(id);
  if (id instanceof JsonNumber && /^-?\d+$/.test(id.text)) {
    const value = id.text.length < 19 ? 0n : BigInt(id.text);
    if (value <= MAX_I64 && value >= -MAX_I64 - 1n) return id.text;
  }
  throw new MalformedMessage("data did not match any variant of untagged enum RequestId");
}

function text(value: Json | undefined): string {
  if (typeof value === "string") return value;
  throw new MalformedMessage(`invalid type: ${described(value)}, expected a string`);
}

function traceContext(value: Json): TraceContext | undefined {
  if (value === null) return undefined;
  if (!(value instanceof Map)) {
    throw new MalformedMessage(`invalid type: ${described(value)}, expected struct W3cTraceContext`);
  }
  const traceparent = value.get("traceparent") ?? null;
  const tracestate = value.get("tracestate") ?? null;
  return {
    ...(traceparent === null ? {} : { traceparent: text(traceparent) }),
    ...(tracestate === null ? {} : { tracestate: text(tracestate) }),
  };
}

/** How the reference names what it found instead of what it wanted. */
function described(value: Json | undefined): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "string") return `string ${JSON.stringify(value)}`;
  if (typeof value === "boolean") return `boolean \`${value}\``;
  if (value instanceof JsonNumber) return "number";
  return value instanceof Map ? "map" : "sequence";
}

/** Plain JavaScript values, for the `data` of an error that nothing decodes. */
function plain(value: Json): unknown {
  if (value instanceof JsonNumber) return Number(value.text);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, member]) => [key, plain(member)]));
  return Array.isArray(value) ? value.map(plain) : value;
}

/** The reply to a request, from a result that is JSON text already. */
export function encodeResult(id: string, resultJson: string): string {
  return `{"id":${id},"result":${resultJson}}`;
}

/** The error reply to a request, or, under the id -1, to a message that could not be decoded. */
export function encodeError(id: string, error: RpcError): string {
  return `{"error":${toWellFormedJson({ code: error.code, data: error.data, message: error.message })},"id":${id}}`;
}

/** A request of ours; `id` counts from 1 on each connection. */
export function encodeRequest(id: number, method: string, params: unknown, trace?: TraceContext): string {
  return toWellFormedJson({ id, method, params: params ?? null, trace });
}

export function encodeNotification(method: string, params: unknown): string {
  return toWellFormedJson({ method, params });
}
