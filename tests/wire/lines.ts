/** Recorded conversations: the lines of the files in `transcripts/`, `codex_client/` and `filesystem/`. */

export interface Meta {
  readonly scenario: string;
  readonly transport: "ws" | "stdio" | "http" | "cli";
  /** Arguments of the server program; absent where every line brings its own. */
  readonly args?: readonly string[];
  /** Variables added to the server's environment. */
  readonly serverEnv?: Readonly<Record<string, string>>;
  readonly note?: string;
  /** How the server program is started, where that matters. */
  readonly launch?: Launch;
}

/** What a server program inherits from whoever starts it. */
export interface Launch {
  /** File mode creation mask, octal. */
  readonly umask?: string;
  /** The user and group that it runs as; only root can arrange that. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Where it runs no user namespace can be made any more. */
  readonly namespacesUsedUp?: boolean;
}

/** A message too large to store: `prefix`, then either `fill` up to `totalBytes` or `repeat` nested `times`, `suffix`. */
export interface Generated {
  readonly prefix: string;
  readonly suffix: string;
  readonly fill?: string;
  readonly totalBytes?: number;
  readonly fragmentBytes?: number;
  readonly repeat?: readonly [string, string];
  readonly times?: number;
}

/** What the client does. */
export interface SendLine {
  readonly dir: "send";
  readonly conn?: string;
  readonly msg?: unknown;
  readonly raw?: string;
  readonly hex?: string;
  readonly generated?: Generated;
  readonly frame?: string;
  readonly code?: number;
  readonly payload?: string;
  /** False: the line is the last one and has no newline; the input ends after it. */
  readonly newline?: boolean;
  readonly http?: readonly string[];
  readonly cli?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface HttpAnswer {
  readonly status: string;
  readonly headers: readonly string[];
  readonly body: string;
}

/** What the server is expected to do. */
export interface RecvLine {
  readonly dir: "recv";
  readonly conn?: string;
  readonly msg?: unknown;
  readonly frame?: string;
  readonly count?: number;
  readonly atMs?: readonly number[];
  readonly payload?: string;
  readonly payloadBytes?: number;
  readonly summary?: Readonly<Record<string, unknown>>;
  readonly http?: HttpAnswer;
  readonly running?: boolean;
  readonly exitCode?: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** Something outside the messages. */
export interface EventLine {
  readonly dir: "event";
  readonly conn?: string;
  readonly event: string;
  readonly how?: string;
  readonly ms?: number;
  readonly signal?: string | null;
  readonly code?: number | null;
}

/** Something done outside the protocol: which members there are depends on `op`. */
export interface SetupLine {
  readonly dir: "setup";
  readonly msg: Setup;
}

/** Modes are octal strings. */
export type Setup =
  | { readonly op: "mkdir"; readonly path: string; readonly mode: string }
  | WriteSetup
  | { readonly op: "append"; readonly path: string; readonly text: string }
  | { readonly op: "sparse"; readonly path: string; readonly size: number }
  | { readonly op: "symlink"; readonly path: string; readonly target: string }
  | { readonly op: "hardlink"; readonly path: string; readonly to: string }
  | { readonly op: "fifo" | "socket" | "remove" | "readFifo"; readonly path: string }
  | { readonly op: "chardev"; readonly path: string; readonly major: number; readonly minor: number }
  | { readonly op: "writeRawName"; readonly dirPath: string; readonly nameHex: string; readonly text: string }
  | { readonly op: "chown"; readonly path: string; readonly uid: number; readonly gid: number }
  | { readonly op: "rename"; readonly from: string; readonly to: string };

export interface WriteSetup {
  readonly op: "write";
  readonly path: string;
  readonly text?: string;
  readonly base64?: string;
  readonly mode: string;
  /** Milliseconds since 1970, also negative. */
  readonly mtimeMs?: number;
}

/** Something that must be so outside the protocol. */
export interface CheckLine {
  readonly dir: "check";
  readonly msg: FileCheck | SilenceCheck;
}

export type SilenceCheck =
  | { readonly op: "noReplyWithin"; readonly ms: number }
  | { readonly op: "noNotificationWithin"; readonly ms: number };

export type FileCheck =
  | { readonly op: "content"; readonly path: string; readonly text: string }
  | { readonly op: "absent"; readonly path: string }
  | { readonly op: "tree"; readonly path: string; readonly entries: readonly string[] }
  | LstatCheck;

export interface LstatCheck {
  readonly op: "lstat";
  readonly path: string;
  readonly kind: "file" | "directory" | "symlink";
  readonly mode: string;
  readonly size?: number;
  readonly nlink?: number;
  readonly target?: string;
}

/** What the HTTP server that requests go to saw since the last message was sent: one request, or how many. */
export interface PeerLine {
  readonly dir: "peer";
  readonly head?: readonly string[];
  readonly body?: string;
  readonly count?: number;
}

export type Line = SendLine | RecvLine | EventLine | SetupLine | CheckLine | PeerLine;

export interface Transcript {
  readonly meta: Meta;
  readonly lines: readonly Line[];
}
