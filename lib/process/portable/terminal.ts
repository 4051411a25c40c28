import { Buffer } from "node:buffer";
import { constants } from "node:os";
import type { Writable } from "node:stream";
import { type IPty, spawn } from "@lydell/node-pty";
import { type Child, type ChildEvents, type LaunchSpec, MAX_CHUNK_BYTES, type TerminalSize } from "../child.ts";
import { checkStrings } from "../program.ts";
import type { SignalName } from "../signal_name.ts";
import { findTerminalProgram } from "../terminal_program.ts";
import { ownAccount, withShell } from "./account.ts";
import type { ChildContext } from "./child_context.ts";
import type { LedGroup } from "./group.ts";
import type { Launch } from "./launch.ts";
import { errorCode } from "./launch_errors.ts";
import { pathText, probe, requireDirectory, requireExecutable } from "./preflight.ts";
import { StdinQueue, type StdinWriter } from "./stdin_queue.ts";

/** What a terminal reports of a program that a signal killed. Source: the reference. */
const KILLED_EXIT_CODE = 1;

/**
 * Finds what a program on a terminal is started with.
 *
 * @throws {ExecError} With the reason why it cannot be started.
 */
export async function launchForTerminal(spec: LaunchSpec): Promise<Launch> {
  const { program, cwd } = await find(spec);
  const env = Object.fromEntries(withShell(spec.env));
  return { file: program, args: spec.argv.slice(1), arg0: program, cwd, env };
}

/** Starts a program on a terminal of its own. */
export function startOnTerminal(launch: Launch, size: TerminalSize, context: ChildContext): Child {
  const { file, args, cwd, env } = launch;
  const { rows, columns: cols } = size;
  const terminal = spawn(file, [...args], { rows, cols, cwd, env, encoding: null });
  launch.started?.(terminal.pid);
  // What nobody but node-pty's own listener hears, it throws at the event loop. EIO is how every terminal ends.
  socketOf(terminal)?.on("error", (error) => {
    const reason = errorCode(error);
    if (reason !== "EIO") context.log.warn("a terminal failed", { reason });
  });
  return new TerminalChild(terminal, launch.ended, context);
}

/** What to run and where. Windows has ways of its own to name programs, and node-pty knows them. */
async function find(spec: LaunchSpec): Promise<{ program: string; cwd: string }> {
  if (Deno.build.os === "windows") {
    checkStrings(spec, spec.cwd);
    return { program: spec.argv[0]!, cwd: pathText(spec.cwd) };
  }
  const found = findTerminalProgram(spec, () => ownAccount().home, probe);
  checkStrings(spec, found.cwd);
  const [program, cwd] = [pathText(found.path), pathText(found.cwd)];
  await requireDirectory(cwd);
  await requireExecutable(program);
  return { program, cwd };
}

class TerminalChild implements Child {
  readonly pid: number;
  readonly #terminal: IPty;
  readonly #events: ChildEvents;
  readonly #group: LedGroup;
  readonly #ended: (() => void) | undefined;
  readonly #stdin: StdinQueue;
  #hasExited = false;
  #isPaused = false;
  #isDisposed = false;

  constructor(terminal: IPty, ended: (() => void) | undefined, { events, groups }: ChildContext) {
    this.pid = terminal.pid;
    this.#terminal = terminal;
    this.#ended = ended;
    this.#events = events;
    this.#group = groups.add(terminal.pid, () => terminal.kill());
    this.#stdin = new StdinQueue(writerOf(terminal));
    // With `encoding: null` the data are bytes, whatever the types say.
    terminal.onData((data) => this.#output(data as unknown as Uint8Array<ArrayBuffer>));
    terminal.onExit(({ exitCode, signal }) => this.#exited(exitCode, signal ?? 0));
  }

  write(bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> | undefined {
    return this.#stdin.push(bytes, signal);
  }

  /** A terminal's input has no end. */
  closeStdin(): void {}

  resize({ rows, columns }: TerminalSize): void {
    // The descriptor can be closed before the exit is told, and its number be somebody else's.
    if (this.#hasExited || socketOf(this.#terminal)?.destroyed === true) return;
    this.#terminal.resize(columns, rows);
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#terminal.resume();
  }

  signal(signal: SignalName): boolean {
    return !this.#hasExited && this.#group.signal(signal);
  }

  /** The end of the leader hangs the terminal up, which ends the reading as well. */
  terminate(): void {
    if (this.#hasExited) return;
    this.#group.kill();
    this.resume();
  }

  killGroup(): void {
    this.#group.kill();
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.killGroup();
    this.#stdin.close();
    this.resume();
  }

  #output(data: Uint8Array<ArrayBuffer>): void {
    for (let from = 0; from < data.length && !this.#isDisposed; from += MAX_CHUNK_BYTES) {
      const bytes = new Uint8Array(data.buffer, data.byteOffset + from, Math.min(MAX_CHUNK_BYTES, data.length - from));
      if (this.#events.output("pty", bytes) || this.#isPaused) continue;
      this.#isPaused = true;
      this.#terminal.pause();
    }
  }

  /** @param signal Its number; 0: none. */
  #exited(exitCode: number, signal: number): void {
    this.#hasExited = true;
    this.#group.leaderExited();
    this.#ended?.();
    this.#stdin.close();
    if (this.#isDisposed) return;
    if (signal === 0) this.#events.exited(exitCode, null);
    else this.#events.exited(KILLED_EXIT_CODE, signalName(signal));
    this.#events.closed();
  }
}

function signalName(signal: number): string {
  return Object.entries(constants.signals).find(([, number]) => number === signal)?.[0] ?? `SIG${signal}`;
}

/** The stream below a terminal: private, but there in the version that is pinned, except on Windows. */
function socketOf(terminal: IPty): Writable | undefined {
  return Deno.build.os === "windows" ? undefined : (terminal as IPty & { readonly _socket?: Writable })._socket;
}

/** How bytes reach a terminal: its public `write` takes text and gives no answer, the stream below does better. */
function writerOf(terminal: IPty): StdinWriter {
  const socket = socketOf(terminal);
  if (socket !== undefined) {
    return (bytes, done) => socket.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), () => done());
  }
  return (bytes, done) => {
    terminal.write(new TextDecoder().decode(bytes));
    setTimeout(done, 0);
  };
}
