/**
 * What the rest of the server needs of a running program, whichever back end launched it: `linux/` through libc,
 * `portable/` through node:child_process and node-pty.
 */

import type { Enforcement } from "../sandbox/sandbox.ts";
import type { SignalName } from "./signal_name.ts";

/** Which output a chunk came from; on a terminal everything is `pty`. */
export type StreamName = "stdout" | "stderr" | "pty";

/** Of a terminal, in characters; neither may be 0. */
export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

/** The size that a terminal has unless another is asked for. Source: the reference's. */
export const DEFAULT_TERMINAL_SIZE: TerminalSize = { rows: 24, columns: 80 };

/** What to launch. Nothing here has been checked against the machine yet. */
export interface LaunchSpec {
  /** Program and arguments; at least one, and the first may be a bare name that is looked up on `env`'s PATH. */
  readonly argv: readonly string[];
  /** What the program sees as argv[0]; null: `argv[0]` as given. */
  readonly arg0: string | null;
  /** Absolute path, bytes without a NUL; need not be UTF-8. */
  readonly cwd: Uint8Array<ArrayBuffer>;
  /** The whole environment of the child. */
  readonly env: ReadonlyMap<string, string>;
  /** A terminal instead of pipes. */
  readonly tty: boolean;
  /** Of the terminal; absent: {@linkcode DEFAULT_TERMINAL_SIZE}. */
  readonly terminalSize?: TerminalSize;
  /** Without a terminal: whether stdin is a pipe that stays open; otherwise it is the null device. */
  readonly pipeStdin: boolean;
}

/** Who hears what a child does. Calls come in order and never before `launch` has returned. */
export interface ChildEvents {
  /**
   * Bytes of one stream, at most {@linkcode MAX_CHUNK_BYTES}. The view is valid only during the call.
   *
   * @returns false asks the child to stop reading until {@linkcode Child.resume} is called.
   */
  output(stream: StreamName, bytes: Uint8Array<ArrayBuffer>): boolean;
  /**
   * The program ended. What its streams held at that moment has been delivered; more can still come (grandchildren).
   *
   * @param exitCode After a death by a signal 128 + its number, and on a terminal always 1.
   * @param signal The name of that signal, e.g. `SIGKILL`; null: it ended by itself.
   */
  exited(exitCode: number, signal: string | null): void;
  /** After `exited`: every stream has reached its end or was cut off. The last call. */
  closed(): void;
}

export interface Child {
  readonly pid: number;
  /**
   * Queues bytes for stdin, in order. Bytes for a program that has closed its stdin or is gone are dropped silently.
   *
   * @returns undefined when there was room; otherwise a promise that resolves when the bytes were queued, and rejects
   * with the signal's reason if it is aborted first (then nothing was queued).
   */
  write(bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> | undefined;
  /** Ends stdin, if it is a pipe, as soon as what was queued before has been written. What is written later is dropped. */
  closeStdin(): void;
  /** Changes the size of the terminal, whereupon its foreground group gets SIGWINCH; nothing without one (any more). */
  resize(size: TerminalSize): void;
  /** Reads on after `output` returned false. */
  resume(): void;
  /**
   * Sends a signal to the process group of the program, unless the program has exited.
   *
   * @returns Whether it was sent.
   * @throws {Deno.errors.PermissionDenied} If not even one process of the group may be signalled.
   */
  signal(signal: SignalName): boolean;
  /**
   * SIGKILL to the group and an end to reading: what others still hold open no longer delays `closed`. Nothing once the
   * program has exited. A failure is only logged: the program has changed its user.
   */
  terminate(): void;
  /**
   * For the server's own end: SIGKILL to whatever is left of the group, background children of an exited program
   * included, at once and synchronously. A failure is only logged.
   */
  killGroup(): void;
  /** Gives back every descriptor and watch at once; no event comes any more. Kills what is left of the group. */
  [Symbol.dispose](): void;
}

/** Launches programs. */
export interface ProcessBackend {
  /** `linux` or `portable`, for the log. */
  readonly name: string;
  /**
   * @throws {ExecError} `spawnNotFound`, `spawnPermissionDenied` or `spawnFailed` with the reference's sentence;
   * nothing is left behind.
   */
  launch(spec: LaunchSpec, events: ChildEvents): Child | Promise<Child>;
  /**
   * The same with a program that is confined. What it runs is looked for in its confinement, so that a program that is not
   * there is one that starts and fails.
   *
   * @param signal Aborted when nobody wants the program any more; what is being made ready for it is then given up.
   * @throws {ExecError} Also `sandboxUnavailable`.
   */
  launchConfined(
    spec: LaunchSpec,
    enforcement: Enforcement,
    events: ChildEvents,
    signal: AbortSignal,
  ): Promise<Child>;
}

/**
 * Largest output chunk, in bytes. The reference reads 8192; larger reads let one program use the machine (measured:
 * 380 to 620 MB/s with 64 KiB frames, 242 to 267 with 8 KiB).
 */
export const MAX_CHUNK_BYTES = 64 * 1024;

/** Chunks that wait for a program that does not read its stdin, besides the one being written. The reference: 128. */
export const STDIN_QUEUE_CHUNKS = 128;
