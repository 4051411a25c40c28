import type { Json } from "../json.ts";

/**
 * Which queue a request waits in when several may run at once: `control` requests overtake `ordinary` ones,
 * `immediate` ones wait for nothing.
 */
export type Lane = "ordinary" | "control" | "immediate";

/** What a handler may know of the request that it answers. */
export interface RequestScope {
  /** Aborted when the connection has ended: whatever waits then gives up. */
  readonly signal: AbortSignal;
  /** Calls back in the step in which the answer has been handed to the carrier; not when the connection ended before. */
  afterAnswer(callback: () => void): void;
}

/** A result as JSON text. One of a hundred megabytes puts itself between the two ends of its message, copied once. */
export type ResultJson = string | { between(before: string, after: string): string };

/** Who answers a peer's requests and hears its notifications. */
export interface PeerHandler {
  /**
   * Answers one request with its result.
   *
   * @throws {ExecError} The error reply.
   */
  request(method: string, params: Json, scope: RequestScope): ResultJson | Promise<ResultJson>;
  /** @throws {ProtocolViolation} The connection ends. */
  notification(method: string, params: Json): void;
  /** @param waiting Whether a request of such a method waits in the ordinary lane, that is, one that came before this one. */
  lane(method: string, waiting: (isMeant: (method: string) => boolean) => boolean): Lane;
  /** False while everything runs one by one whatever `concurrency` says (the handshake). */
  readonly concurrent: boolean;
}

/** The peer broke a rule that costs it the connection. The message is for our log. */
export class ProtocolViolation extends Error {
  override readonly name = "ProtocolViolation";
}
