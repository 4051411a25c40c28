import { ExecError, type ExecErrorKind } from "../errors.ts";

/** The error object of a JSON-RPC reply. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Code of a message that could not be decoded; it is answered under {@linkcode UNDECODABLE_ID}. */
export const INVALID_REQUEST = -32600;
/** The id of answers to messages whose own id could not be read. */
export const UNDECODABLE_ID = "-1";

const CODES: Readonly<Record<ExecErrorKind, number>> = {
  invalidRequest: INVALID_REQUEST,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  notFound: -32004,
  sessionAttached: -32010,
  disconnected: -32000,
  spawnNotFound: -32603,
  spawnPermissionDenied: -32603,
  spawnFailed: -32603,
  sandboxUnavailable: -32603,
  sandboxPreparation: -32602,
  sandboxUnsupported: -32602,
};

/** Kinds that also travel as `data.kind`, because the code alone would not tell them apart, and how they are called there. */
const DATA_KINDS: Partial<Record<ExecErrorKind, ExecErrorKind>> = {
  spawnNotFound: "spawnNotFound",
  spawnPermissionDenied: "spawnPermissionDenied",
  spawnFailed: "spawnFailed",
  sandboxUnavailable: "sandboxUnavailable",
  sandboxPreparation: "sandboxPreparation",
  // Seen on the reference, which has the one name for both.
  sandboxUnsupported: "sandboxUnavailable",
};

/** What the other side is told of a failure; undefined if it is a fault of ours that only the log may describe. */
export function toRpcError(error: unknown): RpcError | undefined {
  if (!(error instanceof ExecError)) return undefined;
  const { kind, message } = error;
  const dataKind = DATA_KINDS[kind];
  const code = CODES[kind];
  return dataKind === undefined ? { code, message } : { code, message, data: { kind: dataKind } };
}

/** The other way: what a peer's error reply means. Codes that are unknown count as `internal`. */
export function fromRpcError({ code, message, data }: RpcError): ExecError {
  const named = typeof data === "object" && data !== null ? (data as { kind?: unknown }).kind : undefined;
  if (typeof named === "string" && Object.hasOwn(DATA_KINDS, named)) {
    return new ExecError(named as ExecErrorKind, message);
  }
  const kinds = Object.entries(CODES) as [ExecErrorKind, number][];
  return new ExecError(kinds.find(([, number]) => number === code)?.[0] ?? "internal", message);
}
