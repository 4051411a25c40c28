import { cString, cStringArray } from "../../linux/cstring.ts";
import { osErrorText } from "../../linux/errno.ts";
import * as libc from "../../linux/libc.ts";
import type { Log } from "../../log.ts";
import type { Exits } from "./exits.ts";
import { GroupTable } from "./group_table.ts";
import type { GroupRegister } from "./groups.ts";
import { type DescriptorSource, posixSpawn } from "../../linux/posix_spawn.ts";

/**
 * Waits for the end of its stdin, of which only the server holds the other end, and then kills every group that the
 * table on descriptor 3 lists. A group without its leader is left alone if a process bears its number: then the number
 * has been given to a stranger.
 *
 * It stays deaf to the signals that may end the server, since the server's end is what it waits for.
 */
const SCRIPT = `trap '' HUP INT QUIT TERM
read -r nothing
while read -r state group; do
  case $state in
    L) kill -s KILL -- "-$group" ;;
    O) kill -0 "$group" || kill -s KILL -- "-$group" ;;
  esac
done <&3`;

/** Watchdogs that may fail or die before no other is started. */
const MAX_FAILURES = 3;

export interface WatchdogOptions {
  readonly log: Log;
  readonly exits: Exits;
  /** The shell; replaced in tests. */
  readonly shell?: string;
}

/**
 * Sees to it that no program outlives a server that was killed so suddenly that it could do nothing itself (SIGKILL,
 * out of memory, a crash): a small shell of about 1 MB in a session of its own.
 *
 * A program that is started in the very moment of the server's death, before it is in the table (some microseconds),
 * is beyond its reach, and so is whoever has left the group that it was started in.
 */
export class Watchdog implements GroupRegister, Disposable {
  readonly #options: WatchdogOptions;
  readonly #table = GroupTable.create();
  /** Write end of the pipe on which the watchdog waits. */
  #lifeline: number | null = null;
  #failures = 0;
  #disposed = false;

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  /** Starts the watchdog if there is none; call it before a program is started. */
  ensure(): void {
    if (this.#lifeline !== null || this.#failures >= MAX_FAILURES || this.#disposed) return;
    const table = this.#table;
    const ends = typeof table === "number" ? table : libc.pipe();
    if (typeof table === "number" || typeof ends === "number") {
      this.#failed(osErrorText(-ends));
      return;
    }
    const [reading, writing] = ends;
    const nothing: DescriptorSource = { path: cString("/dev/null"), flags: libc.O_RDWR };
    const pid = posixSpawn({
      path: cString(this.#options.shell ?? "/bin/sh"),
      // The name of a shell, since some systems have one file for all their programs; ours shows at the end.
      argv: cStringArray(["sh", "-c", SCRIPT, "exec-server-watchdog"]),
      env: cStringArray([]),
      directory: cString("/"),
      descriptors: [reading, nothing, nothing, table.file],
    });
    libc.close(reading);
    if (pid < 0) {
      libc.close(writing);
      this.#failed(osErrorText(-pid));
      return;
    }
    this.#lifeline = writing;
    const pidfd = libc.openProcessDescriptor(pid);
    this.#options.exits.await(pid, pidfd, (status) => {
      if (pidfd >= 0) libc.close(pidfd);
      this.#cut();
      if (this.#disposed) return;
      this.#failed(`it ended with wait status ${status}`);
      this.ensure(); // for the programs that run
    });
  }

  add(group: number): number {
    return typeof this.#table === "number" ? -1 : this.#table.add(group);
  }

  orphaned(slot: number): void {
    if (typeof this.#table !== "number") this.#table.orphaned(slot);
  }

  remove(slot: number): void {
    if (typeof this.#table !== "number") this.#table.remove(slot);
  }

  /** Lets the watchdog go, whereupon it kills what is still listed. Nothing can be listed afterwards. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#cut();
    if (typeof this.#table !== "number") this.#table[Symbol.dispose]();
  }

  #cut(): void {
    if (this.#lifeline !== null) libc.close(this.#lifeline);
    this.#lifeline = null;
  }

  #failed(reason: string): void {
    this.#failures++;
    this.#options.log.warn("no watchdog: a server that is killed leaves its programs behind", {
      reason,
      triedAgain: this.#failures < MAX_FAILURES,
    });
  }
}
