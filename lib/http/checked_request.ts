import { ExecError } from "../errors.ts";
import { urlDefect } from "../url_defect.ts";
import { basicCredentials } from "./basic_credentials.ts";
import { HeaderMap } from "./header_map.ts";
import { headerLine, isHeaderName, isHeaderValue, isMethod } from "./request_checks.ts";
import type { HttpRequest } from "./request_head.ts";

/** A request as a client words it; nothing in it has been looked at. */
export interface AskedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly {
    readonly name: string;
    readonly value: string;
    /** The content of this variable is appended to the value. */
    readonly valueEnvVar: string | null;
  }[];
  readonly bodyBase64: Uint8Array<ArrayBuffer> | null;
}

/**
 * Looks at everything in the reference's order.
 *
 * @param variables Those of this machine, for the values of headers.
 * @throws {ExecError} `invalidParams`.
 */
export function checkedRequest(params: AskedRequest, variables: ReadonlyMap<string, string>): HttpRequest {
  const { method, bodyBase64 } = params;
  if (!isMethod(method)) throw refused("method is invalid: invalid HTTP method");
  const url = checkedUrl(params.url);
  const headers = new HeaderMap();
  const credentials = basicCredentials(url);
  for (const header of params.headers) appendHeader(headers, header, variables);
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
  { name, value, valueEnvVar }: AskedRequest["headers"][number],
  variables: ReadonlyMap<string, string>,
): void {
  if (!isHeaderName(name)) throw refused("header name is invalid: invalid HTTP header name");
  let suffix = "";
  if (valueEnvVar !== null) {
    const found = variables.get(valueEnvVar);
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
