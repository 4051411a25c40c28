import type { Clock, Timer } from "../clock.ts";
import { cString } from "../linux/cstring.ts";
import { EINVAL } from "../linux/errno.ts";
import * as libc from "../linux/libc.ts";
import { OwnMounts } from "../linux/mount_table.ts";
import { ownChildren } from "../linux/own_children.ts";
import { type DescriptorSource, posixSpawn } from "../linux/posix_spawn.ts";
import { cStrings } from "../linux/sandbox_calls.ts";
import { send, socketPair } from "../linux/socket_calls.ts";
import { toBytes } from "./byte_path.ts";
import { FirstProcess } from "./first_process.ts";

/** How long a launcher waits in vain, in ms; it takes about 45 MB. */
export const READY_MS = 30_000;
/** When the next one is started, in ms: the program that took the last one is to be first. */
const RENEW_AFTER_MS = 1;

const SIGKILL = 9;
const MESSAGE: libc.Bytes = new Uint8Array(1);
const NOTHING: DescriptorSource = { path: cString("/dev/null"), flags: libc.O_RDWR };

/** What launchers have in common that can stand in for each other. */
export interface LauncherKind {
  /** Their whole command line and environment, as bytes. */
  readonly argv: readonly string[];
  readonly env: readonly string[];
  /** Whether they are in namespaces of their own, whose first process says which one it is. */
  readonly hasFirstProcess: boolean;
}

/** A launcher that has begun, but knows nothing yet. It is used for one program, or for none. */
export class ReadyLauncher implements Disposable {
  readonly first: FirstProcess | null;
  readonly #pid: number;
  readonly #socket: number;
  #isOver = false;

  private constructor(pid: number, socket: number, first: FirstProcess | null) {
    this.#pid = pid;
    this.#socket = socket;
    this.first = first;
    ownChildren.add(pid);
  }

  /** Undefined if it cannot be started just now: nobody has asked for it yet. */
  static start({ argv, env, hasFirstProcess }: LauncherKind): ReadyLauncher | undefined {
    const ends = socketPair();
    if (typeof ends === "number") return undefined;
    const [ours, theirs] = ends;
    const first = hasFirstProcess ? new FirstProcess() : null;
    const [words, variables] = [cStrings(argv).block, cStrings(env).block];
    const pid = posixSpawn({
      path: cString(toBytes(argv[0]!)),
      argv: { pointers: words, block: words },
      env: { pointers: variables, block: variables },
      directory: cString("/"),
      descriptors: [NOTHING, NOTHING, NOTHING, theirs, ...(first === null ? [] : [first.report])],
    });
    libc.close(theirs);
    if (first !== null) libc.close(first.report);
    if (pid > 0) return new ReadyLauncher(pid, ours, first);
    libc.close(ours);
    first?.[Symbol.dispose]();
    return undefined;
  }

  /** Whether it still waits. */
  get isReady(): boolean {
    if (!this.#isOver && libc.reap(this.#pid) !== null) this.#forget();
    return !this.#isOver;
  }

  /**
   * Tells it what to do. From now on it is a child like any other.
   *
   * @param plan A descriptor of its plan.
   * @param streams Its standard input, output and error output.
   * @returns Its process id; or a negated error number, and it has ended.
   */
  handOver(plan: number, streams: readonly DescriptorSource[]): number {
    for (const source of [plan, ...streams]) {
      const result = this.#send(source);
      if (result >= 0) continue;
      this[Symbol.dispose]();
      return result;
    }
    this.#forget();
    return this.#pid;
  }

  #send(source: DescriptorSource): number {
    if (typeof source === "number") return source > 2 ? send(this.#socket, MESSAGE, source, { now: true }) : -EINVAL;
    const opened = libc.open(source.path, source.flags | libc.O_CLOEXEC);
    if (opened < 0) return opened;
    const result = send(this.#socket, MESSAGE, opened, { now: true });
    libc.close(opened);
    return result;
  }

  #forget(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    ownChildren.delete(this.#pid);
    libc.close(this.#socket);
  }

  /** Ends it, if it was not used. */
  [Symbol.dispose](): void {
    if (this.#isOver) return;
    libc.symbols.kill(-this.#pid, SIGKILL);
    libc.symbols.waitpid(this.#pid, new Uint8Array(new ArrayBuffer(4)), 0);
    this.#forget();
    this.first?.[Symbol.dispose]();
  }
}

interface Ready {
  readonly launcher: ReadyLauncher;
  /** As they were before it was started. */
  readonly mounts: number;
  readonly ending: Timer;
}

/**
 * Keeps one launcher ready of each kind that was used lately. The runtime needs 30 to 40 ms to begin, of which nothing
 * depends on the program. Such a launcher is as tight as any other: it is given its plan later, and that is all. It may
 * see the machine's mounts as they were when it began, so it is of no use when they have changed.
 */
export class ReadyLaunchers implements Disposable {
  readonly #clock: Clock;
  readonly #mounts = new OwnMounts();
  readonly #ready = new Map<string, Ready>();
  readonly #renewing = new Map<string, Timer>();
  #isOpen = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** From now on there is use for them. */
  open(): void {
    this.#isOpen = true;
  }

  /** One that waits, the caller's from now on. */
  take(kind: LauncherKind): ReadyLauncher | undefined {
    const key = keyOf(kind);
    const found = this.#ready.get(key);
    if (found === undefined) return undefined;
    this.#ready.delete(key);
    found.ending.cancel();
    const { launcher, mounts } = found;
    if (launcher.isReady && mounts === this.#mounts.changes) return launcher;
    if (launcher.isReady) launcher[Symbol.dispose]();
    else launcher.first?.[Symbol.dispose]();
    return undefined;
  }

  /** A program has just been started by one: soon there is another. */
  used(kind: LauncherKind): void {
    const key = keyOf(kind);
    if (!this.#isOpen || this.#ready.has(key) || this.#renewing.has(key)) return;
    const renew = (): void => {
      this.#renewing.delete(key);
      const mounts = this.#mounts.changes;
      const launcher = ReadyLauncher.start(kind);
      if (launcher !== undefined) this.#keep(key, launcher, mounts);
    };
    this.#renewing.set(key, this.#clock.after(RENEW_AFTER_MS, renew));
  }

  #keep(key: string, launcher: ReadyLauncher, mounts: number): void {
    const ending = this.#clock.after(READY_MS, () => {
      this.#ready.delete(key);
      launcher[Symbol.dispose]();
    });
    this.#ready.set(key, { launcher, mounts, ending });
  }

  [Symbol.dispose](): void {
    this.#isOpen = false;
    for (const timer of this.#renewing.values()) timer.cancel();
    this.#renewing.clear();
    for (const { launcher, ending } of this.#ready.values()) {
      ending.cancel();
      launcher[Symbol.dispose]();
    }
    this.#ready.clear();
    this.#mounts[Symbol.dispose]();
  }
}

function keyOf({ argv, env }: LauncherKind): string {
  return [...argv, "", ...env].join("\0");
}
