/** `process/*`: parameters, results, and what the server tells of a process without being asked. */

import { encodeBase64 } from "../base64.ts";
import {
  base64,
  boolean,
  type Codec,
  enumeration,
  i64,
  identifier,
  map,
  nullable,
  pathUri,
  seq,
  string,
  u64,
  usize,
} from "../codec.ts";
import { defaulted, type Field, omittable, optional, optionalOr, struct } from "../struct.ts";
import { shellInfo } from "./environment.ts";
import { managedNetwork, networkProxy } from "./network_proxy.ts";
import { sandboxContext } from "./sandbox.ts";
import { uuid } from "./uuid.ts";

/** Which of the server's own variables a program gets. All patterns are shell-like and ignore case. */
export const envPolicy = struct("ExecEnvPolicy", {
  inherit: enumeration(["core", "all", "none"]),
  ignoreDefaultExcludes: boolean,
  exclude: seq(string),
  set: map(string),
  includeOnly: seq(string),
});

/** For telemetry only. */
const metadata = struct("ExecMetadata", {
  threadId: defaulted(nullable(uuid), null),
  toolCallId: defaulted(nullable(string), null),
});

/** Asks to run shell commands in a saved state of the login shell; a server may ignore it. */
const shellSnapshot = struct("ShellSnapshotRequest", { scopeId: string, shell: shellInfo });

/** Also those of our own start, which has more. */
export const startMembers = {
  processId: identifier,
  metadata: omittable(metadata),
  argv: seq(string),
  cwd: pathUri,
  envPolicy: optional(envPolicy),
  shellSnapshot: omittable(shellSnapshot),
  env: map(string),
  tty: boolean,
  pipeStdin: defaulted(boolean, false),
  /** What the program sees as its name; null: `argv[0]`. */
  arg0: optional(string),
  sandbox: optional(sandboxContext),
  enforceManagedNetwork: defaulted(boolean, false),
  managedNetwork: optional(managedNetwork),
  networkProxy: omittable(networkProxy),
} as const;

/** As the reference sends it: three members only when they say something, the others always. */
export const startParams = struct("WireExecParams", startMembers);

/** `none`, or the means by which the program is confined: `linuxSeccomp`, `macosSeatbelt`, … */
export const startResult = struct("ExecResponse", { processId: string, sandboxType: defaulted(string, "none") });

export const readParams = struct("ReadParams", {
  processId: string,
  /** Only chunks with a higher number are returned. */
  afterSeq: optionalOr(u64, 0),
  /** Most decoded bytes; the first chunk comes whatever its size. */
  maxBytes: optional(usize),
  /** How long to wait for something to return, in milliseconds. */
  waitMs: optionalOr(u64, 0),
});

const streamName = enumeration(["stdout", "stderr", "pty"]);
type StreamName = "stdout" | "stderr" | "pty";

/** One piece of output. */
export interface Chunk {
  readonly seq: number;
  readonly stream: StreamName;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const wireChunk = struct("ProcessOutputChunk", { seq: u64, stream: streamName, chunk: base64 });
const chunk: Codec<Chunk> = {
  decode(json) {
    const { seq, stream, chunk } = wireChunk.decode(json);
    return { seq, stream, bytes: chunk };
  },
  encode: ({ seq, stream, bytes }) => wireChunk.encode({ seq, stream, chunk: bytes }),
};

/** What a process has said and where it stands. */
export interface ReadResult {
  readonly chunks: readonly Chunk[];
  /** Not always the number of the next event: a bounded read that returned something continues behind that. */
  readonly nextSeq: number;
  readonly exited: boolean;
  readonly exitCode: number | null;
  readonly closed: boolean;
  /** Why output was lost; no server has ever set it, so whoever makes a result may leave it out. */
  readonly failure?: string | null;
  readonly sandboxDenied: boolean;
}
const wireReadResult = struct("ReadResponse", {
  chunks: seq(chunk),
  nextSeq: u64,
  exited: boolean,
  exitCode: optional(i64),
  closed: boolean,
  failure: optional(string),
  sandboxDenied: defaulted(boolean, false),
});
export const readResult: Codec<ReadResult> = {
  decode: wireReadResult.decode,
  encode: (result) => wireReadResult.encode({ ...result, failure: result.failure ?? null }),
  toJson: encodeReadResult,
};

/** Absent: not remembered, so a repetition is written again. The reference demands one; older clients send none. */
const writeId: Field<string | null> = {
  decode: identifier.decode,
  encode: (value) => value ?? undefined,
  whenAbsent: () => null,
  positionally: true,
};

export const writeParams = struct("WriteParams", { processId: string, chunk: base64, writeId });
export const writeResult = struct("WriteResponse", {
  status: enumeration(["accepted", "unknownProcess", "stdinClosed", "starting"]),
});

export const signalParams = struct("SignalParams", { processId: string, signal: enumeration(["interrupt"]) });

export const terminateParams = struct("TerminateParams", { processId: string });
export const terminateResult = struct("TerminateResponse", { running: boolean });

export const outputEvent = struct("ProcessOutputNotification", {
  processId: string,
  seq: u64,
  stream: streamName,
  chunk: base64,
});
export const exitedEvent = struct("ProcessExitedNotification", {
  processId: string,
  seq: u64,
  exitCode: i64,
  /** Null: a server from before the sandbox, which did not send it. */
  sandboxDenied: defaulted(nullable(boolean), null),
});
export const closedEvent = struct("ProcessClosedNotification", { processId: string, seq: u64 });

/**
 * The notification of one piece of output as a whole message. Joined by hand: a program that floods makes thousands of
 * these, and no text in it but the id needs escaping.
 *
 * @param idJson The process id as JSON text, made once per process.
 */
export function encodeOutput(idJson: string, seq: number, stream: StreamName, bytes: Uint8Array): string {
  return `{"method":"process/output","params":{"processId":${idJson},"seq":${seq},"stream":"${stream}","chunk":"` +
    `${encodeBase64(bytes)}"}}`;
}

/** The notification of an exit as a whole message. */
export function encodeExited(idJson: string, seq: number, exitCode: number, sandboxDenied: boolean): string {
  return `{"method":"process/exited","params":{"processId":${idJson},"seq":${seq},"exitCode":${exitCode},` +
    `"sandboxDenied":${sandboxDenied}}}`;
}

/** The notification of a close as a whole message. */
export function encodeClosed(idJson: string, seq: number): string {
  return `{"method":"process/closed","params":{"processId":${idJson},"seq":${seq}}}`;
}

/** The result of `process/read` as JSON text; the same as by the codec, without visiting every character twice. */
export function encodeReadResult(result: ReadResult): string {
  const chunks = result.chunks.map(({ seq, stream, bytes }) =>
    `{"seq":${seq},"stream":"${stream}","chunk":"${encodeBase64(bytes)}"}`
  );
  const { nextSeq, exited, exitCode, closed, failure = null, sandboxDenied } = result;
  return `{"chunks":[${chunks.join(",")}],"nextSeq":${nextSeq},"exited":${exited},"exitCode":${exitCode},` +
    `"closed":${closed},"failure":${JSON.stringify(failure)},"sandboxDenied":${sandboxDenied}}`;
}
