/** `http/request` and the pieces of a streamed body. */

import { encodeBase64 } from "../base64.ts";
import { base64, boolean, enumeration, identifier, nullable, seq, string, u16, u64 } from "../codec.ts";
import type { Codec, Decoded } from "../codec.ts";
import { toWellFormedJson } from "../json.ts";
import { defaulted, type Field, optional, struct } from "../struct.ts";

/** Null when it is absent, and absent when it is null: the reference leaves out what there is none of. */
function unsaid<T>(codec: Codec<T>): Field<T | null> {
  return { ...defaulted(nullable(codec), null), encode: (value) => value === null ? undefined : codec.encode(value) };
}

export const httpRequestParams = struct("HttpRequestParams", {
  method: string,
  url: string,
  headers: defaulted(
    seq(struct("HttpHeader", {
      name: string,
      value: string,
      /** The content of this variable of the server's environment is appended to the value. */
      valueEnvVar: unsaid(string),
    })),
    [],
  ),
  bodyBase64: defaulted(nullable(base64), null),
  /** For the whole exchange, in milliseconds; null: no limit. */
  timeoutMs: unsaid(u64),
  redirectPolicy: defaulted(enumeration(["follow", "stop"]), "follow"),
  /** Names the stream. */
  requestId: identifier,
  streamResponse: defaulted(boolean, false),
});

const wireResult = struct("HttpRequestResponse", {
  status: u16,
  headers: seq(struct("HttpResponseHeader", { name: string, value: string })),
  bodyBase64: base64,
});
export const httpRequestResult: Codec<Decoded<typeof wireResult>> = {
  decode: wireResult.decode,
  encode: wireResult.encode,
  toJson: (result) => {
    const [before, after] = aroundBody(result);
    return `${before}${encodeBase64(result.bodyBase64)}${after}`;
  },
};

/** The JSON text of a result before and behind its body, for one that is put together elsewhere. */
export function aroundBody(result: Pick<Decoded<typeof wireResult>, "status" | "headers">): [string, string] {
  return [`{"status":${result.status},"headers":${toWellFormedJson(result.headers)},"bodyBase64":"`, '"}'];
}

export const httpBodyDelta = struct("HttpRequestBodyDeltaNotification", {
  requestId: string,
  /** From 1. */
  seq: u64,
  deltaBase64: base64,
  done: boolean,
  error: optional(string),
});

/**
 * The notification of one piece of a body as a whole message, joined by hand: a long body makes thousands of these.
 *
 * @param idJson The request's name as JSON text, made once per stream.
 */
export function encodeBodyDelta(idJson: string, seq: number, bytes: Uint8Array): string {
  return `{"method":"http/request/bodyDelta","params":{"requestId":${idJson},"seq":${seq},"deltaBase64":"` +
    `${encodeBase64(bytes)}","done":false,"error":null}}`;
}

/** The last notification of a body. @param error What became of the rest; null: nothing is missing. */
export function encodeBodyEnd(idJson: string, seq: number, error: string | null): string {
  return `{"method":"http/request/bodyDelta","params":{"requestId":${idJson},"seq":${seq},"deltaBase64":"","done":true,` +
    `"error":${JSON.stringify(error)}}}`;
}
