/** `http/request`: parameters are checked in the reference's order; what carries the request out is loaded with the first. */

import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import { HeaderMap } from "../http/header_map.ts";
import { headerLine, isHeaderName, isHeaderValue, isMethod } from "../http/request_checks.ts";
import type { HttpRequest } from "../http/request_head.ts";
import { basicCredentials } from "../http/basic_credentials.ts";
import { type Log, silentLog } from "../log.ts";
import type { Params } from "../protocol/methods.ts";
import { urlDefect } from "../url_defect.ts";
import type { ConnectionScope } from "./connection_scope.ts";
import type { Handler } from "./handler.ts";
import { HttpStreams } from "./http_streams.ts";

export interface HttpHandlerOptions {
  readonly clock: Clock;
  /** Hears why a request failed, where the wire has no words for it. */
  readonly log?: Log;
  /** The server's own variables: for proxies, certificates and the values of headers. */
  readonly inherited: () => ReadonlyMap<string, string>;
}

export function httpHandlers(
  { clock, log = silentLog, inherited }: HttpHandlerOptions,
): { "http/request": Handler<"http/request"> } {
  const streamsOf = (scope: ConnectionScope) => new HttpStreams({ scope, clock, log, environment: inherited });
  return {
    "http/request": (params, { connection, afterAnswer }) => {
      const streams = connection.resource(streamsOf);
      const { requestId, streamResponse, redirectPolicy, timeoutMs } = params;
      const asked = () => ({ request: checkedRequest(params, inherited), redirects: redirectPolicy, timeoutMs });
      return streamResponse ? streams.stream(requestId, asked, afterAnswer) : streams.whole(asked());
    },
  };
}

type RequestParams = Params<"http/request">;

/** @throws {ExecError} `invalidParams`. */
function checkedRequest(params: RequestParams, inherited: () => ReadonlyMap<string, string>): HttpRequest {
  const { method, bodyBase64 } = params;
  if (!isMethod(method)) throw refused("method is invalid: invalid HTTP method");
  const url = checkedUrl(params.url);
  const headers = new HeaderMap();
  const credentials = basicCredentials(url);
  for (const header of params.headers) appendHeader(headers, header, inherited);
  if (credentials !== undefined && !headers.has("authorization")) {
    return {
      method,
      url,
      headers: HeaderMap.from([["authorization", credentials], ...headers]),
      body: bodyOf(bodyBase64),
    };
  }
  return { method, url, headers, body: bodyOf(bodyBase64) };
}

function bodyOf(bytes: Uint8Array<ArrayBuffer> | null): Uint8Array<ArrayBuffer> {
  return bytes ?? new Uint8Array();
}

function checkedUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw refused(`url is invalid: ${urlDefect(text)}`);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw refused(`only supports http and https URLs, got ${url.protocol.slice(0, -1)}`);
  }
  return url;
}

function appendHeader(
  headers: HeaderMap,
  { name, value, valueEnvVar }: RequestParams["headers"][number],
  inherited: () => ReadonlyMap<string, string>,
): void {
  if (!isHeaderName(name)) throw refused("header name is invalid: invalid HTTP header name");
  let suffix = "";
  if (valueEnvVar !== null) {
    const found = inherited().get(valueEnvVar);
    if (found === undefined) throw refused(`header ${name} requires executor environment variable ${valueEnvVar}`);
    if (found === "") {
      throw refused(`header ${name} requires a non-empty executor environment variable ${valueEnvVar}`);
    }
    suffix = found;
  }
  const sent = value + suffix;
  if (!isHeaderValue(sent)) throw refused(`header value is invalid for ${name}: failed to parse header value`);
  headers.append(...headerLine(name, sent));
}

function refused(reason: string): ExecError {
  return new ExecError("invalidParams", `http/request ${reason}`);
}
