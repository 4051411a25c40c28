/** `http/request` and the pieces of a streamed body. */

import { base64, boolean, enumeration, identifier, nullable, seq, string, u16, u64 } from "../codec.ts";
import { defaulted, optional, struct } from "../struct.ts";

export const httpRequestParams = struct("HttpRequestParams", {
  method: string,
  url: string,
  headers: defaulted(
    seq(struct("HttpHeader", {
      name: string,
      value: string,
      /** The content of this variable of the server's environment is appended to the value. */
      valueEnvVar: defaulted(nullable(string), null),
    })),
    [],
  ),
  bodyBase64: defaulted(nullable(base64), null),
  /** For the whole exchange, in milliseconds; null: no limit. */
  timeoutMs: defaulted(nullable(u64), null),
  redirectPolicy: defaulted(enumeration(["follow", "stop"]), "follow"),
  /** Names the stream. */
  requestId: identifier,
  streamResponse: defaulted(boolean, false),
});

export const httpRequestResult = struct("HttpRequestResponse", {
  status: u16,
  headers: seq(struct("HttpResponseHeader", { name: string, value: string })),
  bodyBase64: base64,
});

export const httpBodyDelta = struct("HttpRequestBodyDeltaNotification", {
  requestId: string,
  /** From 1. */
  seq: u64,
  deltaBase64: base64,
  done: boolean,
  error: optional(string),
});
