import type { RejectionReason, SocketEndReason } from "./socket/relay_socket.ts";

/**
 * What happens to an executor or a forwarder, for an operator's log and an exporter of metrics. There is nothing in it
 * that the other side of a connection could have made up, and no URL, key, token or stream id.
 */
export interface RemoteEvents {
  /** A registration was answered, however. Metrics: `exec_server_remote_registration_total`, `…_duration_seconds`. */
  registration?(event: { readonly outcome: "success" | "error"; readonly durationMs: number }): void;
  /** An upgrade was answered, however. Metrics: `exec_server_remote_rendezvous_connect_total`, `…_duration_seconds`. */
  rendezvousConnect?(event: { readonly outcome: "success" | "error"; readonly durationMs: number }): void;
  /** The registry knows us now. */
  registered?(event: { readonly environmentId: string }): void;
  connected?(): void;
  lost?(event: { readonly reason: SocketEndReason; readonly lastedMs: number }): void;
  /** There will be another attempt. */
  retrying?(event: {
    readonly what: "registration" | "rendezvous" | "direct connection";
    readonly afterMs: number;
    readonly reason: RetryReason;
    /** HTTP status, where there was one. */
    readonly status?: number;
    readonly rejection?: RejectionReason;
  }): void;
  /** Too many handshakes have failed: for so long none is read. */
  paused?(event: { readonly forMs: number }): void;
  handshakeRefused?(event: { readonly reason: RefusalReason }): void;
}

/** Why there is another attempt. */
export type RetryReason =
  | SocketEndReason
  | "unusable url"
  | "connection failed"
  | "upgrade timeout"
  | "upgrade refused"
  | "registration_conflict"
  | "authentication_service_unavailable"
  | "credential unavailable";

/** Why a handshake was answered by a reset, or by the rejection. */
export type RefusalReason =
  | "paused"
  | "stream active"
  | "stream pending"
  | "too many streams"
  | "too many validations"
  | "noise_relay_protocol_error"
  | "not authorized"
  | "validation failed"
  | "executor credentials rejected"
  | "executor credentials unavailable";
