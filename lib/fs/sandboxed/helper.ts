import type { Clock, Timer } from "../../clock.ts";
import { ChildProcess } from "../../linux/child_process.ts";
import { cString, cStringArray } from "../../linux/cstring.ts";
import { errnoText } from "../../linux/errno.ts";
import { pread } from "../../linux/file_calls.ts";
import { close, memoryFile, O_RDONLY, O_WRONLY, symbols } from "../../linux/libc.ts";
import type { Poller } from "../../linux/poller.ts";
import { posixSpawn } from "../../linux/posix_spawn.ts";
import { socketPair } from "../../linux/socket_calls.ts";
import { failureOf, helperFailed, statusText } from "./failure.ts";
import type { DeedName, ListName, Reply, Request, Results } from "./messages.ts";
import { ServerConnection } from "./server_connection.ts";

/** How long a helper may take to find out that nobody wants what it does, in milliseconds; then it is killed. */
export const CANCEL_PATIENCE_MS = 2_000;
/** How long it may take to end by itself. */
const END_PATIENCE_MS = 2_000;
/** Of what it has said at its end so much is told. */
const MAX_WORDS_BYTES = 4096;
/** As the helper ends when it cannot do what it is told. */
const NOT_CONFINED = "exit status: 126";

const SIGKILL = 9;
const WAIT_STATUS_BYTES = 4;

export interface HelperOptions {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly poller: Poller;
  readonly clock: Clock;
}

interface Pending {
  readonly resolve: (result: Results[DeedName]) => void;
  readonly reject: (error: unknown) => void;
  readonly signal: AbortSignal;
  readonly name: DeedName | undefined;
  readonly lists: Map<ListName, unknown[]>;
}

/** A process that works on files, for one request at a time. */
export class Helper {
  readonly #clock: Clock;
  readonly #connection: ServerConnection;
  readonly #child: ChildProcess;
  /** What it and those that started it write to their error output. */
  readonly #words: number;
  #pending: Pending | undefined;
  #patience: Timer | undefined;
  #ending: Timer | undefined;
  #state: "usable" | "ending" | "ended" = "usable";
  readonly #gone = Promise.withResolvers<void>();

  /** @throws {ExecError} If it cannot be started. */
  constructor({ argv, env, poller, clock }: HelperOptions) {
    this.#clock = clock;
    using scope = new DisposableStack();
    const own = (fd: number): number => scope.adopt(started("socket or file", fd), close);
    const pair = socketPair();
    const [ours, theirs] = typeof pair === "number" ? [own(pair), -1] : [own(pair[0]), own(pair[1])];
    const words = own(memoryFile(cString("file-helper-words")));
    const none = cString("/dev/null");
    const pid = started(
      "process",
      posixSpawn({
        path: cString(argv[0]!),
        argv: cStringArray(argv),
        env: cStringArray(Object.entries(env).map(([name, value]) => `${name}=${value}`)),
        directory: cString("/"),
        descriptors: [{ path: none, flags: O_RDONLY }, { path: none, flags: O_WRONLY }, words, theirs],
      }),
    );
    try {
      this.#child = new ChildProcess(pid, poller);
    } catch (error) {
      symbols.kill(pid, SIGKILL);
      symbols.waitpid(pid, new Uint8Array(new ArrayBuffer(WAIT_STATUS_BYTES)), 0);
      throw helperFailed("unavailable", String(error));
    }
    scope.move();
    close(theirs);
    this.#words = words;
    this.#connection = new ServerConnection(ours, poller, {
      reply: (reply, fd) => this.#take(reply, fd),
      ended: () => void this.#lost(),
      malformed: () => {
        this.#child.kill();
        void this.#lost("it said what makes no sense");
      },
    });
  }

  /** Whether it waits for a request, as far as is known without waiting. */
  get isUsable(): boolean {
    return this.#state === "usable" && this.#pending === undefined && this.#connection.isIdle;
  }

  /** Resolves when nothing is left of it. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  /**
   * @param signal Tells the helper that it is not wanted any more. What it has come to by then is the result, if anything.
   * @throws {ExecError} What the deed fails with; `fs sandbox helper failed` when the helper is lost.
   * @throws The reason of the signal, when nothing further is changed.
   */
  request(request: Exclude<Request, "cancel">, signal: AbortSignal): Promise<Results[DeedName]> {
    if (this.#pending !== undefined) throw new Error("a helper is asked for one thing at a time");
    const { promise, resolve, reject } = Promise.withResolvers<Results[DeedName]>();
    if (signal.aborted) {
      reject(signal.reason);
      return promise;
    }
    if (this.#state !== "usable") {
      reject(helperFailed("unknown", "it has ended"));
      return promise;
    }
    this.#connection.send(request);
    this.#pending = { resolve, reject, signal, name: request.deed?.do, lists: new Map() };
    signal.addEventListener("abort", this.#cancel);
    this.#connection.listening = true;
    return promise;
  }

  /** At once, and whatever it does: the answer to what is asked of it is that it was lost. */
  kill(): void {
    this.#child.kill();
    this.#waitForEnd();
  }

  /** When it waits for a request it ends by itself. */
  end(): void {
    this.#connection.endSending();
    this.#waitForEnd();
  }

  /** The connection ends with the last process that has a part in it. */
  #waitForEnd(): void {
    if (this.#state !== "usable") return;
    this.#state = "ending";
    this.#connection.listening = true;
    this.#ending = this.#clock.after(END_PATIENCE_MS, () => {
      this.#child.kill();
      // What it is in the middle of goes on until the system lets go of it, and nobody is told before.
      if (this.#pending === undefined) void this.#lost();
    });
  }

  /** Named property, because the same function must be removed. */
  readonly #cancel = (): void => {
    this.#connection.send("cancel");
    this.#patience = this.#clock.after(CANCEL_PATIENCE_MS, () => this.kill());
  };

  #take(reply: Reply, fd: number | null): void {
    const pending = this.#pending;
    if (pending === undefined) {
      if (fd !== null) close(fd);
      return this.kill();
    }
    if (fd !== null && (pending.name !== "open" || !("done" in reply))) {
      close(fd);
      fd = null;
    }
    if ("part" in reply) {
      const list = pending.lists.get(reply.part) ?? [];
      pending.lists.set(reply.part, list);
      for (const item of reply.items) list.push(item);
      return;
    }
    this.#settled();
    if ("broken" in reply) {
      pending.reject(helperFailed(NOT_CONFINED, reply.broken));
      return this.kill();
    }
    if ("failed" in reply) pending.reject(failureOf(reply.failed));
    else if ("cancelled" in reply) pending.reject(pending.signal.reason);
    else if (pending.name === "open" && fd === null) {
      pending.reject(helperFailed("unknown", "it kept what it had opened"));
    } else pending.resolve(resultOf(pending, reply.done, fd));
  }

  #settled(): void {
    this.#pending?.signal.removeEventListener("abort", this.#cancel);
    this.#patience?.cancel();
    this.#pending = undefined;
    if (this.#state === "usable") this.#connection.listening = false;
  }

  /**
   * Nobody has the other end any more, or we do not want to hear of it.
   *
   * @param reason For whoever waits, if it has left no words itself.
   */
  async #lost(reason = "it has ended"): Promise<void> {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#connection[Symbol.dispose]();
    this.#ending?.cancel();
    this.#ending = this.#clock.after(END_PATIENCE_MS, () => this.#child.kill());
    const status = await this.#child.ended;
    this.#ending.cancel();
    const pending = this.#pending;
    this.#settled();
    const words = lastWords(this.#words);
    close(this.#words);
    if (pending?.signal.aborted) pending.reject(pending.signal.reason);
    else pending?.reject(helperFailed(statusText(status), words === "" ? reason : words));
    this.#gone.resolve();
  }
}

function started(what: string, result: number): number {
  if (result < 0) throw helperFailed("unavailable", `no ${what} for it can be had: ${errnoText(-result)}`);
  return result;
}

function resultOf({ name, lists }: Pending, done: unknown, fd: number | null): Results[DeedName] {
  const list = (name: ListName): unknown[] => lists.get(name) ?? [];
  switch (name) {
    case "readDirectory":
      return list("entries") as Results["readDirectory"][number][];
    case "walk":
      return { ...done as Results["walk"], entries: list("entries"), errors: list("errors") } as Results["walk"];
    default:
      return fd ?? done as Results[DeedName];
  }
}

function lastWords(file: number): string {
  const buffer = new Uint8Array(new ArrayBuffer(MAX_WORDS_BYTES));
  return new TextDecoder().decode(buffer.subarray(0, Math.max(0, pread(file, buffer, 0n)))).trim();
}
