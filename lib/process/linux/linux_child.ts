import type { Clock } from "../../clock.ts";
import * as libc from "../../linux/libc.ts";
import type { Child, ChildEvents, StreamName, TerminalSize } from "../child.ts";
import { signalGroup } from "../signal_group.ts";
import type { SignalName } from "../signal_name.ts";
import type { Exits } from "./exits.ts";
import type { ProcessGroup, ProcessGroups } from "./groups.ts";
import { OutputReader } from "./output_reader.ts";
import type { Poller, Watch } from "../../linux/poller.ts";
import { StdinWriter } from "./stdin_writer.ts";
import { readWaitStatus, signalName } from "./wait_status.ts";

/** How long `closed` waits for a sandbox to be gone, in ms: it takes some milliseconds, unless it cannot be seen. */
const SANDBOX_PATIENCE_MS = 1_000;

/** What all children of one back end share. */
export interface ChildContext {
  readonly poller: Poller;
  readonly exits: Exits;
  readonly groups: ProcessGroups;
  readonly clock: Clock;
  /** Those that still have descriptors. */
  readonly children: Set<Disposable>;
}

/** Our ends of a program's streams, non-blocking. The child closes them. */
export type StreamDescriptors =
  | { readonly kind: "terminal"; readonly master: number }
  | { readonly kind: "pipes"; readonly stdin: number | null; readonly stdout: number; readonly stderr: number };

/** A program that runs, or has run: its streams, its exit, its end. */
export class LinuxChild implements Child {
  readonly #context: ChildContext;
  readonly #events: ChildEvents;
  readonly #terminal: boolean;
  readonly #watches: Watch[] = [];
  readonly #readers: OutputReader[] = [];
  #writer: StdinWriter | null = null;
  #group: ProcessGroup | null = null;
  #exited = false;
  #terminated = false;
  #closed = false;
  #disposed = false;
  /** Resolves when nothing is left of the sandbox around the program. */
  #sandboxGone: Promise<void> | undefined;

  /** Owns the descriptors from here on. */
  constructor(context: ChildContext, streams: StreamDescriptors, events: ChildEvents) {
    this.#context = context;
    this.#events = events;
    this.#terminal = streams.kind === "terminal";
    if (streams.kind === "terminal") {
      const watch = this.#read("pty", streams.master, () => this.#writer?.writable());
      this.#writer = new StdinWriter(watch, () => {});
      return;
    }
    this.#read("stdout", streams.stdout);
    this.#read("stderr", streams.stderr);
    if (streams.stdin !== null) {
      const watch = context.poller.watch(streams.stdin, { writable: () => this.#writer?.writable() });
      this.#watches.push(watch);
      this.#writer = new StdinWriter(watch, () => watch.close());
    }
  }

  /**
   * Says which process it has become; from now on events come.
   *
   * @param ended Called once its exit status has been taken, before any event of that and also when no event comes any
   * more. It says when nothing is left of the sandbox: a client that has heard of the end sees no trace of it.
   */
  started(pid: number, ended?: () => Promise<void> | undefined): void {
    this.#group = this.#context.groups.add(pid);
    this.#context.children.add(this);
    this.#context.exits.await(pid, this.#group.pidfd, (status) => {
      this.#sandboxGone = ended?.();
      this.#ended(status);
    });
    for (const reader of this.#readers) reader.start();
  }

  get pid(): number {
    if (this.#group === null) throw new Error("the program has not been started");
    return this.#group.id;
  }

  write(bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> | undefined {
    for (const reader of this.#readers) reader.expectAnswer();
    return this.#writer?.write(bytes, signal);
  }

  closeStdin(): void {
    if (!this.#terminal) this.#writer?.end();
  }

  resize({ rows, columns }: TerminalSize): void {
    const master = this.#terminal && !this.#closed && !this.#disposed ? this.#watches[0] : undefined;
    if (master !== undefined) libc.setWindowSize(master.fd, rows, columns);
  }

  resume(): void {
    for (const reader of this.#readers) reader.resume();
  }

  signal(signal: SignalName): boolean {
    return !this.#exited && !this.#disposed && signalGroup(this.pid, signal);
  }

  terminate(): void {
    if (this.#exited || this.#disposed) return;
    this.#terminated = true;
    this.killGroup();
  }

  killGroup(): void {
    if (this.#group !== null) this.#context.groups.kill(this.#group);
  }

  /** Only the wait for the leader's exit status goes on, so that no zombie stays. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.killGroup();
    this.#release();
  }

  #read(stream: StreamName, fd: number, writable?: () => void): Watch {
    const watch = this.#context.poller.watch(fd, {
      readable: () => reader.readable(),
      ...(writable === undefined ? {} : { writable }),
    });
    this.#watches.push(watch);
    const reader = new OutputReader({
      watch,
      terminal: this.#terminal,
      clock: this.#context.clock,
      deliver: (bytes) => this.#events.output(stream, bytes),
      ended: () => this.#streamEnded(watch),
    });
    this.#readers.push(reader);
    return watch;
  }

  #streamEnded(watch: Watch): void {
    // The terminal's master is kept until all is over: closing it hangs up on whoever still uses the terminal.
    if (!this.#terminal) watch.close();
    this.#closeIfDone();
  }

  #ended(status: number): void {
    const group = this.#group!;
    this.#context.groups.leaderReaped(group);
    // Of what makes a sandbox something can be left that was not yet in it.
    if (this.#sandboxGone !== undefined) this.killGroup();
    if (this.#disposed) return;
    // While we drain, the end of the last stream must not overtake the exit: `#exited` is set after it.
    for (const reader of this.#readers) {
      reader.drain();
      if (this.#disposed) return;
    }
    this.#exited = true;
    this.#reportExit(status);
    if (this.#terminated) { for (const reader of this.#readers) reader.cut(); }
    this.#closeIfDone();
  }

  /** After death by a signal the code is 128 + the signal, on a terminal always 1. */
  #reportExit(status: number): void {
    const { code, signal } = readWaitStatus(status);
    if (signal === 0) this.#events.exited(code, null);
    else this.#events.exited(this.#terminal ? 1 : 128 + signal, signalName(signal));
  }

  #closeIfDone(): void {
    if (!this.#exited || this.#closed || this.#disposed || this.#readers.some((reader) => !reader.ended)) return;
    this.#closed = true;
    this.#release();
    this.#context.groups.check(this.#group!);
    if (this.#sandboxGone === undefined) return this.#events.closed();
    void this.#closeWhenSandboxIsGone(this.#sandboxGone);
  }

  async #closeWhenSandboxIsGone(gone: Promise<void>): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = this.#context.clock.after(SANDBOX_PATIENCE_MS, resolve);
    // What could not be removed is no matter of the program's; the next start of the server removes it.
    await Promise.race([late, gone.catch(() => {})]);
    timer.cancel();
    if (!this.#disposed) this.#events.closed();
  }

  #release(): void {
    this.#context.children.delete(this);
    this.#writer?.stop();
    for (const reader of this.#readers) reader.cut();
    for (const watch of this.#watches) watch.close();
  }
}
