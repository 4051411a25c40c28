import { Buffer } from "node:buffer";
import { userInfo } from "node:os";
import type { Writable } from "node:stream";
import { type IPty, spawn } from "@lydell/node-pty";
import { type Child, type ChildEvents, type LaunchSpec, MAX_CHUNK_BYTES } from "../child.ts";
import type { LedGroup, LedGroups } from "./group.ts";
import { pathText, requireDirectory, terminalProgram } from "./preflight.ts";
import { StdinQueue } from "./stdin_queue.ts";

/** Size of every terminal. Source: the reference's. */
const ROWS = 24;
const COLUMNS = 80;

/** What a terminal reports of a program that a signal killed. Source: the reference. */
const KILLED_EXIT_CODE = 1;

/**
 * Starts a program on a terminal of its own.
 *
 * @throws {ExecError} With the reason why it cannot be started.
 */
export async function launchOnTerminal(spec: LaunchSpec, events: ChildEvents, groups: LedGroups): Promise<Child> {
  const directory = await startDirectory(spec);
  const [name, ...args] = spec.argv;
  const program = Deno.build.os === "windows" ? name! : await terminalProgram(name!, directory, spec.env);
  const env = Object.fromEntries(spec.env);
  const { shell } = userInfo();
  if (shell && !Object.hasOwn(env, "SHELL")) env["SHELL"] = shell;
  const terminal = spawn(program, args, { rows: ROWS, cols: COLUMNS, cwd: directory, env, encoding: null });
  return new TerminalChild(terminal, events, groups.add(terminal.pid, () => terminal.kill()));
}

/** The directory asked for; if it is not there, the home of the program's environment, then the account's. */
async function startDirectory(spec: LaunchSpec): Promise<string> {
  const wanted = pathText(spec.cwd);
  let failure: unknown;
  for (const directory of [wanted, spec.env.get("HOME"), userInfo().homedir]) {
    if (!directory) continue;
    try {
      await requireDirectory(directory);
      return directory;
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

class TerminalChild implements Child {
  readonly pid: number;
  readonly #terminal: IPty;
  readonly #events: ChildEvents;
  readonly #group: LedGroup;
  readonly #stdin: StdinQueue;
  #hasExited = false;
  #isPaused = false;
  #isDisposed = false;

  constructor(terminal: IPty, events: ChildEvents, group: LedGroup) {
    this.pid = terminal.pid;
    this.#terminal = terminal;
    this.#events = events;
    this.#group = group;
    this.#stdin = new StdinQueue(writerOf(terminal));
    // With `encoding: null` the data are bytes, whatever the types say.
    terminal.onData((data) => this.#output(data as unknown as Uint8Array<ArrayBuffer>));
    terminal.onExit(({ exitCode, signal }) => this.#exited(signal ? KILLED_EXIT_CODE : exitCode));
  }

  write(bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> | undefined {
    return this.#stdin.push(bytes, signal);
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#terminal.resume();
  }

  signal(signal: "SIGINT" | "SIGKILL"): void {
    if (!this.#hasExited) this.#group.signal(signal);
  }

  /** The end of the leader hangs the terminal up, which ends the reading as well. */
  terminate(): void {
    this.signal("SIGKILL");
    this.resume();
  }

  killGroup(): void {
    this.#group.signal("SIGKILL");
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

  #exited(exitCode: number): void {
    this.#hasExited = true;
    this.#group.leaderExited();
    this.#stdin.close();
    if (this.#isDisposed) return;
    this.#events.exited(exitCode);
    this.#events.closed();
  }
}

/**
 * How bytes reach the terminal. The public `write` has neither bytes nor an answer; the stream below it, private but
 * there in the version that is pinned, has both. Without it (Windows) the text goes out unanswered.
 */
function writerOf(terminal: IPty): (bytes: Uint8Array<ArrayBuffer>, done: () => void) => void {
  const { _socket: socket } = terminal as IPty & { readonly _socket?: Writable };
  if (socket !== undefined && Deno.build.os !== "windows") {
    return (bytes, done) => socket.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), () => done());
  }
  return (bytes, done) => {
    terminal.write(new TextDecoder().decode(bytes));
    setTimeout(done, 0);
  };
}
