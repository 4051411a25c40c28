/**
 * Every number of the relay. Those without "ours" are the reference's, version 0.171.0, seen or read; times are
 * milliseconds, sizes bytes.
 */

/** Largest WebSocket message that is received; a larger one ends the socket. */
export const MAX_FRAME_BYTES = 262_144;
/** Ours: longest stream id that an executor answers, UTF-8. The rest of a frame is left for a record and its envelope. */
export const MAX_STREAM_ID_BYTES = 192 * 1024;
/** Largest Noise handshake message. */
export const MAX_HANDSHAKE_BYTES = 65_535;
/** Authorization of a harness, as the executor takes it. */
export const MAX_AUTHORIZATION_BYTES = 4096;

/** Plaintext of one record. */
export const MAX_RECORD_BYTES = 61_440;
/** What AES-GCM adds to a record. */
export const TAG_BYTES = 16;
/** Length prefix of a message. */
export const LENGTH_BYTES = 4;
export const MAX_MESSAGE_BYTES = 67_108_864;
/** Records of one direction: a stream ends before its sequence number, 32 bits wide, would pass this. */
export const MAX_SEQ = 0xffff_ffff;

/** How far ahead of the next expected a record may be, and so how many may be held. */
export const MAX_REORDER_DISTANCE = 64;
export const MAX_HELD_BYTES = 1_048_576;

/** Decoded messages that wait per stream of an executor behind the one that is being answered. */
export const MAX_WAITING_MESSAGES = 128;
/** Frames of all streams that wait for the socket. */
export const MAX_QUEUED_FRAMES = 128;
/** Ours: bytes in the socket's own buffer above which streams wait: an answer must not stand behind more of a flood. */
export const SOCKET_HIGH_WATER_BYTES = 1024 * 1024;
/** Ours: what the streams of one socket may hold together for messages that are not whole; the one that grows is reset. */
export const MAX_ASSEMBLED_BYTES = 256 * 1024 * 1024;

export const MAX_ACTIVE_STREAMS = 128;
/** Validations whose requests have not ended, those of given-up handshakes included. */
export const MAX_VALIDATIONS = 32;
/** Ours: handshakes that wait until those before them have been read; one more is refused. */
export const MAX_UNREAD_HANDSHAKES = 128;
/** Failed handshakes on one socket until the executor pauses. */
export const FAILURE_BUDGET = 8;
export const PAUSE_MS = 10_000;

export const VALIDATE_TIMEOUT_MS = 10_000;
export const REGISTER_TIMEOUT_MS = 10_000;
export const UPGRADE_TIMEOUT_MS = 10_000;
export const FORWARD_CONNECT_TIMEOUT_MS = 10_000;
/** How long a destination's close may take to be answered. */
export const FORWARD_CLOSE_TIMEOUT_MS = 1_000;
/** A larger message goes to a forwarder's destination in fragments of this size. */
export const FORWARD_FRAGMENT_BYTES = 8 * 1024 * 1024;

/** Harness: one request for a bundle at first, how often it is repeated, and all of them together. */
export const CONNECT_REQUEST_TIMEOUT_MS = 6_000;
export const CONNECT_RETRIES = 4;
export const CONNECT_TOTAL_TIMEOUT_MS = 14_000;
/** Harness: one request for a bundle while a lost connection is recovered. */
export const RECONNECT_REQUEST_TIMEOUT_MS = 10_000;
/** Harness: the look-up of a refresh. */
export const REFRESH_TIMEOUT_MS = 10_000;

export const PING_INTERVAL_MS = 30_000;
/** Without an answer to a ping, or without progress of a write, for so long the socket is dropped. */
export const PONG_TIMEOUT_MS = 60_000;

/** Rendezvous: 1, 2, 4, 8, 16, 30, 30 … s, uniform in [d/2, d]; 1 s again after a connection that lasted. */
export const RECONNECT_FIRST_MS = 1_000;
export const RECONNECT_LONGEST_MS = 30_000;
export const RECONNECT_RESET_MS = 120_000;
/** Registration, and attempts of the direct transport: 500, 1000, 2000, 4000, 5000 … ms, up to half of it more. */
export const RETRY_FIRST_MS = 500;
export const RETRY_LONGEST_MS = 5_000;

/** Largest answer of a registry that is read. Ours: the reference's bound is unknown; answers have about 2 kB. */
export const MAX_REGISTRY_ANSWER_BYTES = 1_048_576;
/** Of a registry's error, this much is shown: UTF-16 code units. */
export const MAX_SHOWN_ERROR_LENGTH = 4096;
