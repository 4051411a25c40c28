import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { ExecError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { type Child, type ChildEvents, type LaunchSpec, MAX_CHUNK_BYTES, type StreamName } from "../child.ts";
import { checkStrings } from "../program.ts";
import type { SignalName } from "../signal_name.ts";
import type { ChildContext } from "./child_context.ts";
import type { LedGroup } from "./group.ts";
import type { Launch } from "./launch.ts";
import { errorCode, launchError } from "./launch_errors.ts";
import { pathText, requireDirectory } from "./preflight.ts";
import { StdinQueue } from "./stdin_queue.ts";

/**
 * How long output may follow an exit and still be numbered before it, in ms. Node.js tells of the exit before it has
 * read what the pipes hold; 64 KiB, all that a pipe holds, take well under a millisecond.
 */
const EXIT_SETTLE_MS = 50;

/**
 * Finds what a program on pipes is started with.
 *
 * @throws {ExecError} With the reason why it cannot be started.
 */
export async function launchForPipes(spec: LaunchSpec): Promise<Launch> {
  const [file, ...args] = spec.argv;
  if (file === undefined || file === "") throw new ExecError("spawnFailed", "missing program for pipe spawn");
  checkStrings(spec, spec.cwd);
  const cwd = pathText(spec.cwd);
  await requireDirectory(cwd);
  return { file, args, arg0: spec.arg0 ?? file, cwd, env: Object.fromEntries(spec.env) };
}

/**
 * Starts a program on pipes, in a session of its own (where the system has such a thing).
 *
 * @throws {ExecError} With the reason why it cannot be started.
 */
export async function startOnPipes(launch: Launch, pipeStdin: boolean, context: ChildContext): Promise<Child> {
  const { file, args, arg0, cwd, env } = launch;
  const running = spawn(file, args, {
    cwd,
    argv0: arg0,
    env,
    stdio: [pipeStdin ? "pipe" : "ignore", "pipe", "pipe"],
    detached: Deno.build.os !== "windows",
  });
  if (running.pid === undefined) {
    const [error] = await once(running, "error");
    throw launchError(error);
  }
  launch.started?.(running.pid);
  return new PipeChild(running, running.pid, launch.ended, context);
}

class PipeChild implements Child {
  readonly pid: number;
  readonly #running: ChildProcess;
  readonly #events: ChildEvents;
  readonly #group: LedGroup;
  readonly #log: Log;
  readonly #ended: (() => void) | undefined;
  readonly #stdin: StdinQueue;
  readonly #outputs: readonly Readable[];
  #exitCode: number | null = null;
  #exitSignal: string | null = null;
  #exitReported = false;
  #settling: ReturnType<typeof setTimeout> | undefined;
  #isPaused = false;
  #isDisposed = false;

  constructor(
    running: ChildProcess,
    pid: number,
    ended: (() => void) | undefined,
    { events, groups, log }: ChildContext,
  ) {
    this.pid = pid;
    this.#running = running;
    this.#ended = ended;
    this.#events = events;
    this.#group = groups.add(pid, (signal) => running.kill(signal));
    this.#log = log;
    this.#outputs = [this.#listen("stdout", running.stdout!), this.#listen("stderr", running.stderr!)];
    this.#stdin = this.#stdinQueue();
    running.on("exit", (code, signal) => this.#exited(code, signal));
    running.on("close", () => this.#closed());
  }

  write(bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> | undefined {
    return this.#stdin.push(bytes, signal);
  }

  closeStdin(): void {
    this.#stdin.end();
  }

  /** There is no terminal. */
  resize(): void {}

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    for (const stream of this.#outputs) stream.resume();
    if (this.#exitCode !== null) this.#settle();
  }

  signal(signal: SignalName): boolean {
    return this.#exitCode === null && this.#group.signal(signal);
  }

  terminate(): void {
    if (this.#exitCode !== null) return;
    this.#group.kill();
    this.#cutOff();
  }

  killGroup(): void {
    this.#group.kill();
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    clearTimeout(this.#settling);
    this.killGroup();
    this.#cutOff();
  }

  #listen(name: StreamName, stream: Readable): Readable {
    stream.on("data", (data: Uint8Array<ArrayBuffer>) => this.#output(name, data));
    stream.on("error", (error) => this.#log.warn("reading a program's output failed", { reason: errorCode(error) }));
    return stream;
  }

  #stdinQueue(): StdinQueue {
    const { stdin } = this.#running;
    // Whatever a write fails with, the program has stopped reading; its bytes are dropped then, as everywhere.
    const queue = new StdinQueue((bytes, done) => stdin?.write(bytes, done), () => stdin?.end());
    if (stdin === null) queue.close();
    else stdin.on("error", () => queue.close());
    return queue;
  }

  #output(name: StreamName, data: Uint8Array<ArrayBuffer>): void {
    for (let from = 0; from < data.length && !this.#isDisposed; from += MAX_CHUNK_BYTES) {
      const bytes = new Uint8Array(data.buffer, data.byteOffset + from, Math.min(MAX_CHUNK_BYTES, data.length - from));
      if (this.#events.output(name, bytes) || this.#isPaused) continue;
      this.#isPaused = true;
      for (const stream of this.#outputs) stream.pause();
    }
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    this.#exitCode = code ?? 128 + constants.signals[signal!];
    this.#exitSignal = signal;
    this.#group.leaderExited();
    this.#ended?.();
    this.#stdin.close();
    this.#settle();
  }

  /** Reports the exit when what the pipes held has had time to arrive; not while nobody reads them. */
  #settle(): void {
    clearTimeout(this.#settling);
    if (this.#isPaused || this.#isDisposed || this.#exitReported) return;
    this.#settling = setTimeout(() => this.#reportExit(), EXIT_SETTLE_MS);
  }

  #reportExit(): void {
    clearTimeout(this.#settling);
    if (this.#exitReported || this.#isPaused) return;
    this.#exitReported = true;
    this.#events.exited(this.#exitCode!, this.#exitSignal);
  }

  /** The program has been reaped and every stream has ended. */
  #closed(): void {
    if (this.#isDisposed) return;
    this.#isPaused = false;
    this.#reportExit();
    this.#events.closed();
  }

  #cutOff(): void {
    this.#stdin.close();
    this.#running.stdin?.destroy();
    for (const stream of this.#outputs) stream.destroy();
  }
}
