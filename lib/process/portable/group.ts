import type { Log } from "../../log.ts";
import { signalGroup } from "../signal_group.ts";
import type { SignalName } from "../signal_name.ts";

/** Windows has no process groups: there the leader alone can be reached, until it is reaped. */
const HAS_GROUPS = Deno.build.os !== "windows";

/**
 * The process group that a program leads, for as long as its number is surely ours.
 *
 * The number belongs to the group while it has a member. When the leader has been reaped and the group is empty, the
 * number can be given to strangers, so from then on the group is only signalled after a look at it.
 */
export interface LedGroup {
  /** Says that the leader has been reaped; call it once. */
  leaderExited(): void;
  /**
   * Sends a signal to every member.
   *
   * @returns false if there is none.
   * @throws {Deno.errors.PermissionDenied} If not even one of them may be signalled.
   */
  signal(signal: SignalName): boolean;
  /** SIGKILL to every member. A failure is only logged: a group that has changed its user must not save the others. */
  kill(): void;
}

/** The groups of all programs of one back end; those that outlived their leader are looked at when one is added. */
export class LedGroups implements Disposable {
  readonly #groups = new Set<Group>();
  readonly #log: Log;
  #leaders = 0;
  #idle: (() => void)[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  /** Groups that may have members. */
  get size(): number {
    return this.#groups.size;
  }

  /**
   * @param id The process id of the leader, which was started as one.
   * @param signalLeader What to do for a signal where there are no groups.
   */
  add(id: number, signalLeader: (signal: SignalName) => void): LedGroup {
    this.#forgetEmpty();
    const group = new Group(id, signalLeader, () => this.#leaderGone(), this.#log);
    this.#groups.add(group);
    this.#leaders++;
    return group;
  }

  /** Resolves when every leader has been reaped. */
  idle(): Promise<void> {
    if (this.#leaders === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Kills every member of every group. */
  [Symbol.dispose](): void {
    for (const group of this.#groups) group.kill();
    this.#groups.clear();
  }

  #leaderGone(): void {
    if (--this.#leaders > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #forgetEmpty(): void {
    for (const group of this.#groups) {
      if (!group.hasMembers()) this.#groups.delete(group);
    }
  }
}

class Group implements LedGroup {
  #leaderReaped = false;
  #isEmpty = false;

  constructor(
    readonly id: number,
    readonly signalLeader: (signal: SignalName) => void,
    readonly leaderGone: () => void,
    readonly log: Log,
  ) {}

  leaderExited(): void {
    this.#leaderReaped = true;
    this.hasMembers(); // now, while the number can hardly have been given away
    this.leaderGone();
  }

  hasMembers(): boolean {
    if (this.#leaderReaped && !this.#isEmpty) {
      // No new process gets the number of a living group: one that has it proves that ours had ended before.
      this.#isEmpty = !HAS_GROUPS || exists(this.id) || !exists(-this.id);
    }
    return !this.#isEmpty;
  }

  signal(signal: SignalName): boolean {
    if (!this.hasMembers()) return false;
    if (HAS_GROUPS) return signalGroup(this.id, signal);
    this.signalLeader(signal);
    return true;
  }

  kill(): void {
    try {
      this.signal("SIGKILL");
    } catch (error) {
      this.log.warn("cannot kill a process group", { group: this.id, reason: String(error) });
    }
  }
}

/** Whether a process (or, negative, a group) exists. Signal 0 is a question and reaches nobody. */
function exists(id: number): boolean {
  try {
    Deno.kill(id, 0 as unknown as Deno.Signal); // the types know names only
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    if (error instanceof Deno.errors.PermissionDenied) return true;
    throw error;
  }
}
