import { durationText } from "./duration_text.ts";

/** What went wrong, as far as a program should tell it apart. */
export type ClientErrorKind =
  /** A command could not be started. */
  | "spawn"
  | "connectTimeout"
  /** A WebSocket could not be opened: refused, reset, a status instead of the upgrade. */
  | "connect"
  /** The connection was never tried: what was asked for is not allowed, or not possible here. */
  | "configuration"
  /** A registry said no, or nothing of use, or that the executor may not say yes. */
  | "registry"
  | "initializeTimeout"
  | "callTimeout"
  /** The connection ended, or is known to have ended, before the answer. Whether the server acted is unknown. */
  | "closed"
  /** As `closed`, with the reason: the text of a lost connection or of a recovery that failed. */
  | "disconnected"
  /** An answer that is not what the method answers. */
  | "json"
  | "http"
  | "protocol"
  /** The server said no; `code` is its number. */
  | "server"
  /** An attempt of the lazy client; `cause` is the failure itself. */
  | "attempt"
  /** The environment cannot be had, or not now. */
  | "unavailable"
  /** This server cannot do it: it does not announce the extension or the capability. */
  | "unsupported"
  /** It cannot be done to this process: it has no input, or is not known any more. */
  | "process"
  /** Output that a reader wanted is no longer kept: it came too late, or read too slowly. */
  | "outputLost"
  /** A program wrote more than was to be collected. */
  | "outputLimit";

export interface ClientErrorOptions extends ErrorOptions {
  /** Only of `server`: the JSON-RPC code. */
  readonly code?: number;
  /** Only of `server`: what it said, without our words around it. */
  readonly serverMessage?: string;
  /** Only of `server`: `data.kind`, if there is one, e.g. `spawnNotFound`. */
  readonly dataKind?: string;
  /** Whether another attempt to connect may succeed. */
  readonly retryable?: boolean;
}

/** Every failure that the client reports. The message is for people; `kind` and `code` are for programs. */
export class ClientError extends Error {
  override readonly name = "ClientError";
  readonly code: number | undefined;
  readonly serverMessage: string | undefined;
  readonly dataKind: string | undefined;
  readonly #retryable: boolean | undefined;

  constructor(readonly kind: ClientErrorKind, message: string, options: ClientErrorOptions = {}) {
    super(message, options);
    this.code = options.code;
    this.serverMessage = options.serverMessage;
    this.dataKind = options.dataKind;
    this.#retryable = options.retryable;
  }

  /** Whether another attempt to connect may succeed (`docs/client.md`; carriers may say it themselves). */
  get retryable(): boolean {
    if (this.#retryable !== undefined) return this.#retryable;
    return this.kind === "connect" || this.kind === "connectTimeout" || this.kind === "initializeTimeout" ||
      (this.kind === "server" && this.code === SESSION_ATTACHED) || isTransportClosed(this);
  }
}

/** `session … is already attached to another connection`. */
export const SESSION_ATTACHED = -32010;
export const NOT_FOUND = -32004;
export const INVALID_REQUEST = -32600;
const TRANSPORT_CLOSED_CODE = -32000;
const TRANSPORT_CLOSED_MESSAGE = "JSON-RPC transport closed";

/** Whether the connection went away under a call: the server may or may not have acted. */
export function isTransportClosed(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false;
  if (error.kind === "closed" || error.kind === "disconnected") return true;
  return error.kind === "server" && error.code === TRANSPORT_CLOSED_CODE &&
    error.serverMessage === TRANSPORT_CLOSED_MESSAGE;
}

export function spawnError(detail: string, cause?: unknown): ClientError {
  return new ClientError("spawn", `failed to spawn exec-server: ${detail}`, { cause });
}

export function connectTimeout(url: string, ms: number): ClientError {
  return new ClientError(
    "connectTimeout",
    `timed out connecting to exec-server websocket \`${url}\` after ${durationText(ms)}`,
  );
}

export function connectError(url: string, detail: string, cause?: unknown): ClientError {
  return new ClientError("connect", `failed to connect to exec-server websocket \`${url}\`: ${detail}`, { cause });
}

export function initializeTimeout(ms: number): ClientError {
  return new ClientError(
    "initializeTimeout",
    `timed out waiting for exec-server initialize handshake after ${durationText(ms)}`,
  );
}

export function callTimeout(method: string, ms: number): ClientError {
  return new ClientError(
    "callTimeout",
    `exec-server protocol error: timed out waiting for exec-server \`${method}\` response after ${durationText(ms)}`,
  );
}

/** @param reason Why, if it is known. */
export function disconnected(reason?: string, cause?: unknown): ClientError {
  return new ClientError("disconnected", DISCONNECTED + (reason ? `: ${reason}` : ""), { cause });
}
export const DISCONNECTED = "exec-server transport disconnected";

export function transportClosed(): ClientError {
  return new ClientError("closed", "exec-server transport closed");
}

export function jsonError(detail: string, cause?: unknown): ClientError {
  return new ClientError("json", `failed to serialize or deserialize exec-server JSON: ${detail}`, { cause });
}

export function httpError(detail: string, cause?: unknown): ClientError {
  return new ClientError("http", `HTTP request failed: ${detail}`, { cause });
}

export function protocolError(detail: string, cause?: unknown): ClientError {
  return new ClientError("protocol", `exec-server protocol error: ${detail}`, { cause });
}

export function serverError(code: number, message: string, data?: unknown): ClientError {
  const kind = typeof data === "object" && data !== null ? (data as { kind?: unknown }).kind : undefined;
  return new ClientError("server", `exec-server rejected request (${code}): ${message}`, {
    code,
    serverMessage: message,
    ...(typeof kind === "string" ? { dataKind: kind } : {}),
  });
}

export function attemptError(inner: ClientError): ClientError {
  return new ClientError("attempt", `exec-server connection attempt failed: ${inner.message}`, {
    cause: inner,
    retryable: inner.retryable,
  });
}

export function unavailable(detail: string): ClientError {
  return new ClientError("unavailable", detail);
}

export function unsupported(detail: string): ClientError {
  return new ClientError("unsupported", detail);
}
