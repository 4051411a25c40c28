/**
 * The handshake of the relay, `Noise_hybridIK_25519+MLKEM768_AESGCM_SHA256`: Noise's IK with a second, post-quantum half.
 *
 *     <- s                                   the executor's static keys, from the registry
 *     -> skem, e, es, s, ss      + payload   message 1: the harness's authorization
 *     <- ekem, skem, e, ee, se   + payload   message 2: nothing
 *
 * Both ends are state machines without I/O and clock: bytes go in, bytes come out.
 */
export { type HandshakeContext, HandshakeError, REJECTED_PAYLOAD } from "./handshake.ts";
export { Initiator } from "./initiator.ts";
export { Responder } from "./responder.ts";
export type { TranscriptObserver } from "./symmetric_state.ts";
export type { TransportKeys } from "./transport_keys.ts";
