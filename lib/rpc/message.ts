/** One text ⇄ one request, notification, response or error. */

import { buffer } from "../buffered.ts";
import { ExecError } from "../errors.ts";
import { type Codec, i64, nullable, refusal, string } from "../codec.ts";
import {
  type Json,
  JsonNumber,
  type JsonObject,
  JsonSyntaxError,
  parseJson,
  plainJson,
  toWellFormedJson,
} from "../json.ts";
import type { TraceContext } from "../observer.ts";
import { defaulted, struct } from "../struct.ts";
import type { Message } from "./connection.ts";
import type { ResultJson } from "./peer_handler.ts";
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
const lossyUtf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Reads one message.
 *
 * @param maxValues Most JSON values in it; the default is a server's. A client bounds answers by their bytes alone: the
 * names in a large directory are more.
 * @throws {MalformedMessage} The connection stays usable: answer it under the id -1.
 */
export function decodeMessage(message: Message, maxValues?: number): Incoming {
  try {
    return decode(typeof message === "string" ? message : decodeText(message, maxValues), maxValues);
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof ExecError) {
      throw new MalformedMessage(error.message, { cause: error });
    }
    throw error;
  }
}

/** @throws {MalformedMessage} What a parser of bytes would have stumbled over first. */
function decodeText(bytes: Uint8Array<ArrayBuffer>, maxValues: number | undefined): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    const text = lossyUtf8.decode(bytes);
    decode(text, maxValues);
    const column = new TextEncoder().encode(text.slice(0, text.indexOf("\uFFFD"))).length + 1;
    throw new MalformedMessage(`invalid unicode code point at line 1 column ${column}`, { cause: error });
  }
}

/** What stands before trailing characters is looked at first: it may have a defect of its own. */
function decode(text: string, maxValues: number | undefined): Incoming {
  try {
    return classify(parseJson(text, maxValues));
  } catch (error) {
    if (error instanceof JsonSyntaxError && error.value !== undefined) classify(error.value);
    throw error;
  }
}

/** `method` and `id`: a request; `method` alone: a notification; `result`: a response; else it must be an error. */
function classify(json: Json): Incoming {
  if (!(json instanceof Map)) throw refusal("expected a JSON-RPC object");
  const object: JsonObject = json;
  if (object.has("method")) {
    if (!object.has("id")) return { kind: "notification", ...notification.decode(object) };
    const { trace, ...request } = requestEnvelope.decode(object);
    return { kind: "request", ...request, trace: trace === null ? undefined : present(trace) };
  }
  if (object.has("result")) {
    const { id, result } = response.decode(object);
    return { kind: "response", id, outcome: { result } };
  }
  const { id, error: { code, message, data } } = errorReply.decode(object);
  return { kind: "response", id, outcome: { error: data === undefined ? { code, message } : { code, message, data } } };
}

const MAX_I64 = 2n ** 63n - 1n;

/** The id as JSON text, echoed as it came. */
const requestId: Codec<string> = {
  decode(json) {
    if (typeof json === "string") return JSON.stringify(json);
    const typed = buffer(json);
    if (typed instanceof JsonNumber && /^-?\d+$/.test(typed.text)) {
      if (typed.text.length < 19 || BigInt(typed.text) <= MAX_I64) return typed.text;
    }
    throw refusal("data did not match any variant of untagged enum RequestId");
  },
  encode: (id) => id,
};
const anyJson: Codec<Json> = { decode: (json) => json, encode: (json) => json };
const optionalText = defaulted(nullable(string), null);
const trace = struct("W3cTraceContext", { traceparent: optionalText, tracestate: optionalText });
const params = defaulted(anyJson, null);
const notification = struct("JSONRPCNotification", { method: string, params });
const requestEnvelope = struct("JSONRPCRequest", {
  id: requestId,
  method: string,
  params,
  trace: defaulted(nullable(trace), null),
});
const response = struct("JSONRPCResponse", { id: requestId, result: anyJson });
const plain: Codec<unknown> = { decode: plainJson, encode: (value) => value };
const errorReply = struct("JSONRPCError", {
  error: struct("JSONRPCErrorError", { code: i64, data: defaulted(plain, undefined), message: string }),
  id: requestId,
});

function present({ traceparent, tracestate }: { traceparent: string | null; tracestate: string | null }): TraceContext {
  return { ...(traceparent === null ? {} : { traceparent }), ...(tracestate === null ? {} : { tracestate }) };
}

/** The reply to a request, from a result that is JSON text already. */
export function encodeResult(id: string, result: ResultJson): string {
  const before = `{"id":${id},"result":`;
  return typeof result === "string" ? `${before}${result}}` : result.between(before, "}");
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
