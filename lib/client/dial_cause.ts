import { systemErrorText } from "./system_error.ts";

/*
 * Why a WebSocket could not be opened, in the reference's words as far as they can be known. What the platforms say was
 * seen with Deno 2.9.6, Node.js 22 and Bun 1.4.
 */

/** A platform's error, or what its error event says. */
export interface DialError {
  readonly message: string;
  readonly code?: string | undefined;
  /** Negative for an error of the operating system, as Node.js has it. */
  readonly errno?: number | undefined;
}

const STATUS_NAMES: Readonly<Record<number, string>> = {
  200: "OK",
  301: "Moved Permanently",
  302: "Found",
  307: "Temporary Redirect",
  308: "Permanent Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  426: "Upgrade Required",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

/** The other side answered, but not by an upgrade. */
export function statusCause(status: number): string {
  return `HTTP error: ${status} ${STATUS_NAMES[status] ?? "<unknown status code>"}`;
}

export function errorCause(error: DialError): string {
  const { message, code } = error;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return "IO error: failed to lookup address information: Name or service not known";
  }
  // An error of the operating system; those of other libraries have names like ERR_SSL_….
  if (code !== undefined && /^E[A-Z0-9]+$/.test(code)) return `IO error: ${systemErrorText(error)}`;
  const detail = withoutPrefix(message);
  const status = /status code: (\d{3})$/.exec(detail)?.[1];
  if (status !== undefined) return statusCause(Number(status));
  if (saysOnlyHowHttp2Went(message)) return "WebSocket protocol error: Handshake not finished";
  // Node.js says that it aborted what the other side had accepted in a wrong way.
  if (
    /^(connection closed before message completed|operation was canceled|Connection ended|other side closed|The operation was aborted\.|This operation was aborted)$/
      .test(detail)
  ) {
    return "WebSocket protocol error: Handshake not finished";
  }
  if (/certificate|\b(TLS|SSL)\b|InvalidContentType/.test(detail)) return `TLS error: ${detail}`;
  if (saysOnlyThatItFailed(message)) return `IO error: ${detail || "no connection came about"}`;
  return `WebSocket protocol error: ${detail}`;
}

/** Whether the platform keeps to itself why there was no TCP connection, or whether there was one. */
export function saysOnlyThatItFailed(message: string): boolean {
  return /^(tcp connect error|dns error|Failed to connect|Received network error or non-101 status code\.|)$/
    .test(withoutPrefix(message));
}

/** Whether the platform tells of a second attempt, over HTTP/2, after the first had failed for another reason. */
export function saysOnlyHowHttp2Went(message: string): boolean {
  return withoutPrefix(message) === "Didn't receive h2 alpn, aborting connection";
}

function withoutPrefix(message: string): string {
  return message.replace(/^(NetworkError: failed to connect to WebSocket: |WebSocket connection to '.*' failed: )/, "")
    .trim();
}
