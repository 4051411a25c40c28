import { ExecError } from "../errors.ts";
import type { Clock } from "../clock.ts";
import { errnoText, ESRCH } from "../linux/errno.ts";
import * as libc from "../linux/libc.ts";

/** How long to wait where it is not known which process it was: whatever is left is being killed by then. */
const UNKNOWN_MS = 2_000;
const FIRST_LOOK_MS = 1;
/** Each wait is a little longer than the one before: mostly it takes the kernel less than 15 ms, and somebody waits. */
const NEXT_LOOK = 1.25;
const LONGEST_LOOK_MS = 250;
/** Bubblewrap says a little more than the number. */
const MAX_REPORT_BYTES = 1024;

/**
 * Process 1 of a sandbox: when it ends the kernel ends all the others first. What we start ourselves may end before, so
 * the sandbox tells us which process it is, as a number of ours.
 */
export class FirstProcess implements Disposable {
  /** The first number in what is written here is that of the process. */
  readonly report: number;
  readonly #from: number;
  #pid: number | undefined;
  #closed = false;

  /** @throws {ExecError} `sandboxUnavailable` if there is no descriptor left. */
  constructor() {
    const ends = libc.pipe();
    if (typeof ends === "number") {
      throw new ExecError("sandboxUnavailable", `sandbox unavailable: no pipe can be made: ${errnoText(-ends)}`);
    }
    [this.#from, this.report] = ends;
    libc.setNonBlocking(this.#from);
  }

  /**
   * Resolves when nothing is left of the sandbox.
   *
   * @param wasStarted Whether anything was started at all. It has ended by now.
   */
  async ended(clock: Clock, wasStarted: boolean): Promise<void> {
    if (!wasStarted) return;
    const until = clock.now() + UNKNOWN_MS;
    for (let wait = FIRST_LOOK_MS;; wait = Math.min(NEXT_LOOK * wait, LONGEST_LOOK_MS)) {
      const state = this.look();
      if (state === "gone" || (state === "unknown" && clock.now() >= until)) return;
      await new Promise<void>((resolve) => clock.after(wait, resolve));
    }
  }

  /**
   * Ends the sandbox. What we start ourselves binds the life of this process to its own, but not at once: whoever ends
   * it in the meantime leaves a sandbox that nobody ends.
   */
  kill(): void {
    this.#pid ??= this.#read();
    if (this.#pid === undefined) return;
    const fd = libc.openProcessDescriptor(this.#pid);
    if (fd < 0) return;
    // Asked for after the descriptor was opened: it stays this process, whoever is given the number.
    if (stateOf(this.#pid) === "alive") libc.killProcess(fd);
    libc.close(fd);
  }

  /** Whether it is there now. */
  look(): "alive" | "gone" | "unknown" {
    this.#pid ??= this.#read();
    return this.#pid === undefined ? "unknown" : stateOf(this.#pid);
  }

  #read(): number | undefined {
    if (this.#closed) return undefined;
    const buffer = new Uint8Array(new ArrayBuffer(MAX_REPORT_BYTES));
    const length = libc.read(this.#from, buffer);
    const digits = /\d+/.exec(new TextDecoder().decode(buffer.subarray(0, Math.max(0, length))))?.[0];
    return digits === undefined ? undefined : Number(digits);
  }

  /** Closes our end; the other one is closed with what it was handed to. */
  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.#closed = true;
    libc.close(this.#from);
  }
}

/** A number may have been given to somebody else by now: the one that we mean is process 1 for those inside. */
function stateOf(pid: number): "alive" | "gone" | "unknown" {
  if (libc.probeProcess(pid) === -ESRCH) return "gone";
  let status: string;
  try {
    status = Deno.readTextFileSync(`/proc/${pid}/status`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "gone";
    // It went between the opening of its file and the reading of it: ESRCH, for which Deno has no class.
    if (error instanceof Error && /\bos error 3\b/.test(error.message)) return "gone";
    // Where /proc shows nobody the processes of others.
    if (error instanceof Deno.errors.PermissionDenied) return "unknown";
    throw error;
  }
  const isFirst = /^NSpid:\t\d+\t.*\b1$/m.test(status);
  const isZombie = /^State:\tZ/m.test(status);
  return isFirst && !isZombie ? "alive" : "gone";
}
