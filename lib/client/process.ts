import type { Params } from "../protocol/methods.ts";
import type { ReadResult } from "../protocol/process.ts";
import type { PathUri } from "../path_uri.ts";
import type { CallOptions } from "./calls.ts";

/** A path of the environment's machine: absolute, or relative to the environment's directory; or a `file:` URI. */
export type EnvironmentPath = string | URL | PathUri;

export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

/** What to start. */
export interface StartOptions {
  /** Program and arguments. A bare name is looked up on the program's PATH. */
  readonly argv: readonly string[];
  /** Default: the environment's own directory. */
  readonly cwd?: EnvironmentPath;
  /** Variables on top of what is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  /** Which of the server's own variables the program gets: `core` (default: PATH, HOME and the like), `all`, `none`. */
  readonly inherit?: "core" | "all" | "none";
  /** The whole policy instead of `inherit`. */
  readonly envPolicy?: Params<"process/start">["envPolicy"];
  /** Whether bytes can be written to the program. Default: false, its input is empty. A terminal always can. */
  readonly stdin?: boolean;
  /** A terminal instead of pipes; a size other than 24 × 80 is an extension. */
  readonly tty?: boolean | TerminalSize;
  /** What the program sees as its own name. */
  readonly arg0?: string;
  /** Chosen by the caller, unique in the session. Default: a random one. */
  readonly processId?: string;
  /** What confines the program, as `sandboxDocument` makes it; a server that cannot do that refuses. */
  readonly sandbox?: Params<"process/start">["sandbox"];
  readonly enforceManagedNetwork?: boolean;
  readonly managedNetwork?: Params<"process/start">["managedNetwork"];
  readonly networkProxy?: Params<"process/start">["networkProxy"];
  readonly metadata?: Params<"process/start">["metadata"];
  readonly shellSnapshot?: Params<"process/start">["shellSnapshot"];
  /** Answers the server's questions about the program's network; goes with `networkProxy.policyDecisionTimeoutMs`. */
  readonly networkDecider?: NetworkDecider;
  /** The server ends the program after this long, in milliseconds. An extension. */
  readonly timeLimitMs?: number;
  /** Gives up the start; a process that has begun all the same is terminated. */
  readonly signal?: AbortSignal;
  readonly trace?: CallOptions["trace"];
}

export interface RunOptions extends StartOptions {
  /** What the program reads; its input ends after it where the server can do that (an extension; else `unsupported`). */
  readonly input?: string | Uint8Array | ReadableStream<Uint8Array>;
  /** Most bytes of stdout and stderr together; more rejects and ends the program. Default 64 MiB. */
  readonly maxOutputBytes?: number;
}

export interface CollectedOutput extends ProcessExit {
  readonly stdout: Uint8Array<ArrayBuffer>;
  readonly stderr: Uint8Array<ArrayBuffer>;
  /** The same as text (UTF-8, what is not becomes U+FFFD). On a terminal everything is in `stdoutText`. */
  readonly stdoutText: string;
  readonly stderrText: string;
}

export interface ProcessExit {
  /** 128 + number for a signal on pipes; 1 for any signal on a terminal of a stock server. */
  readonly code: number;
  /** E.g. `SIGKILL`; null: none, or a stock server, which does not tell. */
  readonly signal: string | null;
  /** Why it ended, where the server tells. */
  readonly reason: "exited" | "signaled" | "timeLimit" | "terminated" | null;
  /** The server's guess that a sandbox was what stopped it. */
  readonly sandboxDenied: boolean;
}

export type ProcessStreamName = "stdout" | "stderr" | "pty";

/** What a process does, numbered from 1 without gaps: output, one `exited`, more output perhaps, `closed`. */
export type ProcessEvent =
  | {
    readonly type: "output";
    readonly seq: number;
    readonly stream: ProcessStreamName;
    readonly bytes: Uint8Array<ArrayBuffer>;
  }
  | { readonly type: "exited"; readonly seq: number; readonly code: number; readonly sandboxDenied: boolean }
  | { readonly type: "closed"; readonly seq: number };

/**
 * A running program. Every event comes once and in order, over lost connections too; what cannot be kept up fails with
 * words instead: iteration, streams, `exited` and `closed` then reject with the same {@linkcode ClientError}.
 *
 * Iterations and streams are independent of each other, and share the bytes: nobody may change them. The first one sees
 * everything from the beginning, unless more than 16 MiB had come by then. Those that come later begin with what is
 * still kept: at least the last 256 events or 1 MiB, whichever is less. An iteration tells by the number of its first
 * event that this is not the beginning; a stream rejects with `outputLost` instead of beginning in the middle.
 *
 * Reading slowly slows the program where the server can hold it; elsewhere a reader that falls 256 MiB behind goes on
 * with what the server remembers, or is told `outputLost`. A program that nobody reads is never slowed.
 */
export interface ExecProcess extends AsyncIterable<ProcessEvent>, AsyncDisposable {
  readonly id: string;
  /** `none`, or what confines it. */
  readonly sandboxType: string;
  /** Its output as bytes; on a terminal everything is in `stdout` and `output`. The same stream at each access. */
  readonly stdout: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly stderr: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** stdout and stderr in the order in which they came. */
  readonly output: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Resolves when the program has ended; its children may still write. */
  readonly exited: Promise<ProcessExit>;
  /** Resolves when its streams have ended too: no event comes any more. */
  readonly closed: Promise<void>;
  /** Writes to its input once, over lost connections too. @throws {ClientError} If it has none, or is unknown. */
  write(data: string | Uint8Array, options?: CallOptions): Promise<void>;
  /** Ends its input. An extension; on a terminal the end-of-file character is written instead. */
  closeStdin(options?: CallOptions): Promise<void>;
  /** SIGINT to its group. On a terminal `write("\x03")` is Ctrl-C as from a keyboard: for what runs in the foreground. */
  interrupt(options?: CallOptions): Promise<void>;
  /** Any signal by name, `SIGTERM`. An extension, but for `SIGINT` and `SIGKILL`. */
  signal(name: string, options?: CallOptions): Promise<void>;
  resize(size: TerminalSize, options?: CallOptions): Promise<void>;
  /** SIGKILL to its group. @returns Whether it was still running. */
  terminate(options?: CallOptions): Promise<boolean>;
  /** What the server remembers: the wire's `process/read`. */
  read(
    query?: { afterSeq?: number; maxBytes?: number | null; waitMs?: number },
    options?: CallOptions,
  ): Promise<ReadResult>;
}

export type NetworkProtocol = "http" | "https_connect" | "socks5_tcp" | "socks5_udp";
export interface NetworkQuestion {
  readonly processId: string;
  readonly protocol: NetworkProtocol;
  readonly host: string;
  readonly port: number;
}
export type NetworkDecision =
  | { readonly type: "allow" }
  | { readonly type: "deny" | "ask"; readonly reason: string };
/**
 * Decides whether a program may reach a host. Aborted when the answer is no longer wanted, and should settle then: while
 * 256 are at work, also such as nobody waits for any more, every further question is denied.
 */
export type NetworkDecider = (question: NetworkQuestion, signal: AbortSignal) => Promise<NetworkDecision>;
