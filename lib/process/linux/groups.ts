import * as libc from "../../linux/libc.ts";
import { EPERM, ESRCH } from "../../linux/errno.ts";
import type { Clock, Timer } from "../../clock.ts";
import type { Log } from "../../log.ts";
import { signalGroup } from "../signal_group.ts";

/** Where the numbers of living groups are also written down for whoever survives us; see `watchdog.ts`. */
export interface GroupRegister {
  /** @returns What {@linkcode GroupRegister.remove} wants. */
  add(group: number): number;
  /** The exit status of the leader has been taken, and the group still has members. */
  orphaned(slot: number): void;
  remove(slot: number): void;
}

/** One process group that we founded: its leader is, or was, a child of ours. */
export interface ProcessGroup {
  readonly id: number;
  /** Descriptor of the leader, -1 where the kernel gives none. */
  readonly pidfd: number;
}

interface Entry extends ProcessGroup {
  leaderReaped: boolean;
  /** In the register; null when it is no longer there. */
  slot: number | null;
}

/** How often groups that outlived their leader are looked at, in milliseconds. */
export const LINGERING_CHECK_MS = 1000;
/** Lingering groups looked at each time: one system call (about 1 µs) each. */
const LINGERING_CHECK_COUNT = 256;

/**
 * The groups of all programs that were started here and of which a member may live.
 *
 * A number belongs to a group as long as it has a member, and to a dead leader until its status is taken; after that
 * it can be given to strangers. So once the leader is reaped, a group is only signalled after a look at whether it
 * still has members of ours, and forgotten as soon as it has none.
 */
export class ProcessGroups implements Disposable {
  readonly #entries = new Map<ProcessGroup, Entry>();
  readonly #lingering = new Set<Entry>();
  readonly #register: GroupRegister;
  readonly #clock: Clock;
  readonly #log: Log;
  #timer: Timer | null = null;
  #disposed = false;

  constructor({ register, clock, log }: { register: GroupRegister; clock: Clock; log: Log }) {
    this.#register = register;
    this.#clock = clock;
    this.#log = log;
  }

  /** Number of groups that may have a member. */
  get size(): number {
    return this.#entries.size;
  }

  /** Takes note of a child that was just started as the leader of a group of its own. */
  add(id: number): ProcessGroup {
    const slot = this.#register.add(id);
    const entry: Entry = { id, slot, pidfd: Math.max(libc.openProcessDescriptor(id), -1), leaderReaped: false };
    this.#entries.set(entry, entry);
    return entry;
  }

  /** Says that the exit status of the leader has been taken. Call it in the same turn. */
  leaderReaped(group: ProcessGroup): void {
    const entry = this.#entries.get(group);
    if (entry === undefined) return;
    entry.leaderReaped = true;
    if (this.#disposed || isEmpty(entry)) {
      this.#forget(entry);
      return;
    }
    this.#lingering.add(entry);
    if (entry.slot !== null) this.#register.orphaned(entry.slot);
    this.#schedule();
  }

  /** Forgets the group if nobody is left in it. */
  check(group: ProcessGroup): void {
    const entry = this.#entries.get(group);
    if (entry !== undefined && isEmpty(entry)) this.#forget(entry);
  }

  /** SIGKILL to whoever is left of the group. It is forgotten when they are gone. A failure is only logged. */
  kill(group: ProcessGroup): void {
    const entry = this.#entries.get(group);
    if (entry === undefined) return;
    if (isEmpty(entry)) this.#forget(entry);
    else this.#killMembers(entry);
  }

  /** Kills every group. Those whose leader's exit status is still to be taken are forgotten when it is. */
  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#timer?.cancel();
    this.#timer = null;
    for (const entry of this.#entries.values()) {
      if (!isEmpty(entry)) this.#killMembers(entry);
      if (entry.leaderReaped) this.#forget(entry);
      else this.#unlist(entry);
    }
  }

  /** A group that has changed its user (sudo) may be beyond our reach; that must not save the others. */
  #killMembers(entry: Entry): void {
    try {
      signalGroup(entry.id, "SIGKILL");
    } catch (error) {
      this.#log.warn("cannot kill a process group", { group: entry.id, reason: String(error) });
    }
  }

  #forget(entry: Entry): void {
    this.#entries.delete(entry);
    this.#lingering.delete(entry);
    this.#unlist(entry);
    if (entry.pidfd >= 0) libc.close(entry.pidfd);
  }

  #unlist(entry: Entry): void {
    if (entry.slot !== null) this.#register.remove(entry.slot);
    entry.slot = null;
  }

  #schedule(): void {
    if (this.#timer !== null || this.#lingering.size === 0) return;
    this.#timer = this.#clock.after(LINGERING_CHECK_MS, () => {
      this.#timer = null;
      let budget = LINGERING_CHECK_COUNT;
      for (const entry of this.#lingering) {
        if (budget-- === 0) break;
        this.#lingering.delete(entry);
        if (isEmpty(entry)) this.#forget(entry);
        else this.#lingering.add(entry); // at the end: the next look starts with the others
      }
      this.#schedule();
    });
  }
}

/** Whether nobody of ours can be in the group. */
function isEmpty(entry: Entry): boolean {
  if (!entry.leaderReaped) return false;
  if (entry.pidfd >= 0) {
    const found = libc.probeProcessGroup(entry.pidfd);
    if (found === -ESRCH) return true;
    if (found === 0 || found === -EPERM) return false;
  }
  // Before Linux 6.9 only the number is left to ask about. A number that is in use for a group is not given to a new
  // process, so a process of this id proves that the number was free in between and the group is a stranger's.
  if (libc.probeProcess(entry.id) !== -ESRCH) return true;
  return libc.probeProcess(-entry.id) === -ESRCH;
}
