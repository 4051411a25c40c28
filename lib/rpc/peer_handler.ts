import type { Json } from "../json.ts";

/**
 * Which queue a request waits in when several may run at once: `control` requests overtake `ordinary` ones,
 * `immediate` ones wait for nothing.
 */
export type Lane = "ordinary" | "control" | "immediate";

/** Who answers a peer's requests and hears its notifications. */
export interface PeerHandler {
  /**
   * Answers one request with its result as JSON text.
   *
   * @param signal Aborted when the connection has ended: whatever waits then gives up.
   * @throws {ExecError} The error reply.
   */
  request(method: string, params: Json, signal: AbortSignal): string | Promise<string>;
  /** @throws {ProtocolViolation} The connection ends. */
  notification(method: string, params: Json): void;
  lane(method: string): Lane;
  /** False while everything runs one by one whatever `concurrency` says (the handshake). */
  readonly concurrent: boolean;
}

/** The peer broke a rule that costs it the connection. The message is for our log. */
export class ProtocolViolation extends Error {
  override readonly name = "ProtocolViolation";
}
