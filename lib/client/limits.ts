/**
 * Every number of the client: time limits, bounds and pauses. Those of the reference have the values that version
 * 0.171.0 was seen or read to have; all times are milliseconds, all sizes bytes.
 */

/** TCP, TLS and upgrade of one WebSocket. */
export const CONNECT_TIMEOUT_MS = 10_000;
/** From sending `initialize` to its answer; over the relay the Noise handshake counts as well. */
export const INITIALIZE_TIMEOUT_MS = 10_000;
export const ENVIRONMENT_INFO_TIMEOUT_MS = 30_000;
export const ENVIRONMENT_STATUS_TIMEOUT_MS = 10_000;

/** From the loss of a connection until a new one must have been initialized. */
export const ATTACH_DEADLINE_MS = 45_000;
/** From the loss of a connection until the processes must have been replayed as well. */
export const RECOVERY_DEADLINE_MS = 50_000;
/** Between two attempts to resume over a WebSocket URL. */
export const RESUME_PAUSE_MS = 100;

/** The same over the relay, where the registry is asked each time: the first, and what doubling ends at. */
export const REGISTRY_PAUSE_FIRST_MS = 500;
export const REGISTRY_PAUSE_LONGEST_MS = 5_000;

/** Calls in flight on one connection. One further place is kept for calls that clean up. */
export const MAX_PENDING_CALLS = 1024;
/**
 * Ours: requests that are sent before one of them is answered; more wait here. Version 0.171.0 of the reference's server
 * stops for good when more than the 128 of its queue wait there while it has something to say (seen with 271 reads of a
 * small file, and with 200 beside the output of a program). It does one after the other anyway.
 */
export const MAX_UNANSWERED_REQUESTS = 120;
/** The same for calls that clean up, which have the rest of that queue. */
export const MAX_UNANSWERED_CLEANUPS = 128;
/** Requests of the server in work at once, counted over reconnects. */
export const MAX_SERVER_REQUESTS = 256;
/** Ours: answers that wait for a server to read them; one that asks on without reading loses its connection. */
export const MAX_WAITING_ANSWERS = 1024;
/** What the telemetry calls the capacity of the outgoing queue. */
export const OUTGOING_QUEUE_CAPACITY = 128;

/** Events of one process that came before an earlier one. */
export const MAX_EARLY_EVENTS = 256;
export const MAX_EARLY_BYTES = 1024 * 1024;
/**
 * The same while a `process/read` for what is missing is under way. Ours: on a far server a lively program says more
 * than 256 things before the answer is here.
 */
export const MAX_EARLY_EVENTS_CATCHING_UP = 65_536;
export const MAX_EARLY_BYTES_CATCHING_UP = 16 * 1024 * 1024;
/** Events of one process that are kept for readers who come late. */
export const HISTORY_EVENTS = 256;
export const HISTORY_BYTES = 1024 * 1024;
/**
 * Output of one process that waits for a reader. Ours: above it a server that can is asked to hold the program; a
 * process that nobody reads forgets its oldest output instead.
 */
export const UNREAD_HIGH_WATER_BYTES = 16 * 1024 * 1024;
/** Below it a held program goes on. */
export const UNREAD_LOW_WATER_BYTES = 4 * 1024 * 1024;
/** Ours: beyond it a reader of a server that cannot hold its programs is too slow, and its stream fails. */
export const MAX_UNREAD_BYTES = 256 * 1024 * 1024;
/** What an unread event counts besides its output, about what the object takes. */
export const EVENT_OVERHEAD_BYTES = 128;
/** Most bytes of one `process/write`; more goes in several, in order. */
export const WRITE_BLOCK_BYTES = 1024 * 1024;
/** What `run` collects at most unless told otherwise. */
export const MAX_COLLECTED_BYTES = 64 * 1024 * 1024;
/** Most UTF-16 code units of one line of a program's output. */
export const MAX_LINE_LENGTH = 1024 * 1024;
/** How long an exit waits for its details from a server that has them. */
export const EXIT_DETAILS_TIMEOUT_MS = 10_000;
/** How long leaving the scope of a process waits for the end of what it has just killed. */
export const KILL_GRACE_MS = 2_000;
/** Of a question of the server's about a program's network; beyond them the answer is no. */
export const MAX_DECISION_PROCESS_ID_BYTES = 256;
export const MAX_DECISION_HOST_BYTES = 253;
export const MAX_DECISION_REASON_BYTES = 1024;

/** One block of a file. */
export const FILE_BLOCK_BYTES = 1024 * 1024;
/** Ours: a longer file is read, and where the server can also written, in blocks. */
export const WHOLE_FILE_BYTES = 4 * 1024 * 1024;
/** Ours: whole files that are read and written in blocks at once; a server keeps 128 files of a connection open. */
export const MAX_WHOLE_FILES_BY_BLOCKS = 16;
/** Ours: calls of a client's files at once, so that thousands leave room for others among the calls in flight. */
export const MAX_FILE_CALLS = 512;
/**
 * Ours: what one answer may carry of a file. Platforms end a WebSocket that gets a frame of more than 64 MiB; this is
 * 61.3 MiB in base64.
 */
export const MAX_ANSWER_DATA_BYTES = 46 * 1024 * 1024;
/**
 * Ours: what one message may carry of a file or a request's body. Servers end a connection, without a word, over a
 * WebSocket message of more than 16 MiB; this in base64 leaves 340 KB of that for the rest.
 */
export const MAX_MESSAGE_DATA_BYTES = 12 * 1024 * 1024 - 256 * 1024;

/** Ours: HTTP requests of one client at once whose head has not come; they leave room for other calls in flight. */
export const MAX_REQUESTS_AWAITED = 256;
/**
 * Of HTTP bodies what has come and was not read: deltas of one body, and bytes of all together, each delta counted with
 * {@linkcode EVENT_OVERHEAD_BYTES}. Ours: the reference's client has 256 and 16 MiB, which a reader loses against a fast
 * server although it does nothing but read.
 */
export const MAX_BODY_DELTAS = 262_144;
export const MAX_QUEUED_BODY_BYTES = 256 * 1024 * 1024;
/** Ours: above it a server that can is asked to hold one body, … */
export const BODY_HIGH_WATER_BYTES = 4 * 1024 * 1024;
/** … and below it, to go on. */
export const BODY_LOW_WATER_BYTES = 1024 * 1024;
export const MAX_BODY_DELTA_BYTES = 1024 * 1024;

/** How long a server that we started may take to leave after SIGTERM. */
export const COMMAND_GRACE_MS = 2_000;

/** A session without a connection ends after this long on a stock server. */
export const DETACHED_LIFETIME_MS = 80_000;
