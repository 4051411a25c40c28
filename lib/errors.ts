/**
 * What can go wrong, in words that no layer owns: `rpc/error_code.ts` alone gives a kind its JSON-RPC number.
 *
 * The `spawn…` and `sandbox…` kinds are failures to launch a program; they travel as `data.kind`.
 */
export type ExecErrorKind =
  | "invalidRequest"
  | "methodNotFound"
  | "invalidParams"
  | "internal"
  | "notFound"
  | "sessionAttached"
  | "disconnected"
  | "spawnNotFound"
  | "spawnPermissionDenied"
  | "spawnFailed"
  | "sandboxUnavailable"
  | "sandboxPreparation"
  /** A kind of sandbox that no server for this system has. */
  | "sandboxUnsupported";

/**
 * A failure that the other side may be told: its message is part of the contract and reaches the wire word for word.
 * Anything else that is thrown reaches the other side as a bare "internal error" and our log in full.
 */
export class ExecError extends Error {
  override readonly name = "ExecError";

  /**
   * @param kind What class of failure this is.
   * @param message The words for the other side.
   * @param options `cause` stays on this machine.
   */
  constructor(readonly kind: ExecErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
  }
}
