/**
 * Keeps names there that a sandbox covers. A path that may not be created inside has to exist outside, or nothing can be
 * mounted over it; and it must stay as long as anybody's sandbox relies on it, because the kernel takes a mount away
 * together with what it covers.
 */

import { type Clock, waitingClock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import { EEXIST, osErrorText } from "../linux/errno.ts";
import type { Log } from "../log.ts";
import { toText } from "./byte_path.ts";
import { machineCalls, type MountPointCalls } from "./mount_point_calls.ts";
import { LockedRecord } from "./locked_record.ts";
import type { MountPointRecord } from "./mount_point_record.ts";
import { cleanUpAfterTheDead } from "./mount_point_cleanup.ts";
import {
  type Identity,
  isAbsence,
  isSame,
  look,
  makePlaceholder,
  type MountPoint,
  nameOf,
  openParent,
  removePlaceholder,
  removeStaged,
  stagingName,
} from "./placeholder.ts";

/** Placeholders that one server relies on at once; each costs a descriptor. */
export const MAX_MOUNT_POINTS = 256;
/** How often something may appear and vanish at a path while we look. */
const MAX_TRIES = 8;

/** Things that stay where they are until it is disposed of. */
export type MountPointLease = AsyncDisposable;

interface Held {
  readonly point: MountPoint;
  /** The directory that it lies in, wherever that is moved. */
  readonly parent: number;
  readonly identity: Identity;
  /** Its first name. */
  readonly staging: string;
  /** Where it is written down, and under which name. */
  record: MountPointRecord;
  entry: string;
  /** Leases that rely on it. */
  uses: number;
}

export interface MountPointsOptions {
  /** Where the record lies: `recordPath()`. Sandboxes must not be able to write there. */
  readonly directory: string;
  readonly log: Log;
  readonly uid?: number;
  readonly clock?: Clock;
  readonly calls?: MountPointCalls;
}

export class MountPoints implements AsyncDisposable {
  readonly #options: Required<MountPointsOptions>;
  readonly #calls: MountPointCalls;
  readonly #held = new Set<Held>();
  readonly #record: LockedRecord;

  constructor(options: MountPointsOptions) {
    this.#options = { uid: Deno.uid() ?? 0, clock: waitingClock, calls: machineCalls, ...options };
    this.#calls = this.#options.calls;
    this.#record = new LockedRecord(this.#options);
  }

  /** Placeholders that this server relies on. */
  get size(): number {
    return this.#held.size;
  }

  /**
   * Makes what is missing, and takes care that the placeholders among the rest, of whatever server, stay.
   *
   * @throws {ExecError} `sandboxUnavailable`: something cannot be made, or is of another kind than it was.
   */
  async hold(points: readonly MountPoint[], signal?: AbortSignal): Promise<MountPointLease> {
    const used = points.length === 0 ? [] : await this.#locked((record, others) => {
      const taken: Held[] = [];
      try {
        for (const point of points) {
          const held = this.#take(point, record, others);
          if (held === undefined) continue;
          held.uses++;
          taken.push(held);
        }
      } catch (error) {
        for (const held of taken) held.uses--;
        this.#settle(record, others);
        throw error;
      }
      return taken;
    }, signal);
    return { [Symbol.asyncDispose]: () => this.#release(used.splice(0)) };
  }

  /** Removes what servers have left that were killed. Every other call does so as well. */
  async cleanUp(signal?: AbortSignal): Promise<void> {
    await this.#locked(() => {}, signal);
  }

  /** Lets go of everything, whoever relies on it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#record.beginEnding();
    for (const held of this.#held) held.uses = 0;
    if (!this.#record.isOpen) return;
    try {
      await this.#locked((record) => record.leave());
    } finally {
      this.#close();
    }
  }

  /**
   * Ends the use of the record at once. What somebody relies on, or cannot be removed just now, is left to the next
   * server.
   *
   * @param isEverythingOver Nobody relies on anything any more, whatever he holds.
   */
  end(isEverythingOver: boolean): void {
    this.#record.beginEnding();
    if (isEverythingOver) { for (const held of this.#held) held.uses = 0; }
    if (!this.#record.isOpen) return;
    try {
      const isDone = this.#record.useSoon((record) => {
        this.#tidied(record);
        record.leave();
      });
      if (!isDone) this.#options.log.warn("mount points are left to the next server", { reason: "locked" });
    } catch (error) {
      if (!(error instanceof ExecError)) throw error;
      this.#options.log.warn("mount points are left to the next server", { reason: error.message });
    } finally {
      this.#close();
    }
  }

  #close(): void {
    for (const { parent } of this.#held) this.#calls.close(parent);
    this.#held.clear();
    this.#record.close();
  }

  async #release(used: readonly Held[]): Promise<void> {
    for (const held of used) held.uses = Math.max(0, held.uses - 1);
    if (!used.some(({ uses }) => uses === 0) || !this.#record.isOpen) return;
    try {
      await this.#locked(() => {});
    } catch (error) {
      if (!(error instanceof ExecError)) throw error;
      if (this.#record.isEnding) return; // whoever ended us has seen to it
      // They stay in the record, so the next call, or the next server, does it.
      this.#options.log.warn("mount points cannot be removed yet", { reason: error.message });
    }
  }

  /** Does something while no other server changes anything. What nobody relies on any more has gone then. */
  #locked<T>(act: (record: MountPointRecord, others: readonly Identity[]) => T, signal?: AbortSignal): Promise<T> {
    return this.#record.use((record) => act(record, this.#tidied(record)), signal);
  }

  /** @returns What other servers rely on. */
  #tidied(record: MountPointRecord): readonly Identity[] {
    for (const held of this.#held) if (held.record !== record) writeDown(held, record);
    const others = cleanUpAfterTheDead(record, {
      calls: this.#calls,
      isHeld: (identity) => this.#isNeeded(identity, []),
      left: (result) => this.#tellLeft(result),
    });
    this.#settle(record, others);
    return others;
  }

  #isNeeded(identity: Identity, others: readonly Identity[]): boolean {
    return others.some((other) => isSame(other, identity)) ||
      this.#held.values().some((held) => held.uses > 0 && isSame(held.identity, identity));
  }

  /** Removes what nobody relies on any more. */
  #settle(record: MountPointRecord, others: readonly Identity[]): void {
    for (const held of this.#held) {
      if (held.uses > 0) continue;
      const { point: { path, kind }, parent, staging, identity, entry } = held;
      const result = this.#isNeeded(identity, others)
        ? 0
        : removePlaceholder(this.#calls, { parent, name: nameOf(path), kind, staging, identity });
      if (result < 0) {
        this.#tellLeft(result);
        continue;
      }
      record.remove(entry);
      this.#calls.close(parent);
      this.#held.delete(held);
    }
  }

  #tellLeft(result: number): void {
    this.#options.log.warn("a mount point cannot be removed yet", { reason: osErrorText(-result) });
  }

  /** Undefined: what is there is no placeholder, and nobody but its owner will remove it. */
  #take(point: MountPoint, record: MountPointRecord, others: readonly Identity[]): Held | undefined {
    const parent = openParent(this.#calls, point.path);
    if (parent < 0) throw pointError(point, osErrorText(-parent));
    let isKept = false;
    try {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const found = look(this.#calls, parent, nameOf(point.path));
        if (typeof found === "number" && !isAbsence(found)) throw pointError(point, osErrorText(-found));
        if (typeof found !== "number") {
          if (found.kind !== point.kind) throw pointError(point, `it is no ${point.kind} any more`);
          const held = this.#held.values().find((held) =>
            held.point.path === point.path && isSame(held.identity, found)
          );
          if (held !== undefined) return held;
          if (!this.#isNeeded(found, others)) return undefined;
        }
        const held = this.#add(point, parent, typeof found === "number" ? undefined : found, record);
        if (held === undefined) continue;
        isKept = true;
        return held;
      }
      throw pointError(point, "something keeps appearing and vanishing there");
    } finally {
      if (!isKept) this.#calls.close(parent);
    }
  }

  /** Writes down a placeholder of somebody's, or makes one; undefined if there is suddenly something. */
  #add(point: MountPoint, parent: number, found: Identity | undefined, record: MountPointRecord): Held | undefined {
    if (this.#held.size >= MAX_MOUNT_POINTS) {
      throw new ExecError("sandboxUnavailable", `at most ${MAX_MOUNT_POINTS} mount points may be in use`);
    }
    const staging = stagingName();
    const placeholder = { parent, name: nameOf(point.path), kind: point.kind, staging };
    const entry = record.begin(point, staging);
    const made = this.#make({ ...placeholder, identified: (identity) => record.identify(entry, identity) }, found);
    if (typeof made === "number" || made instanceof ExecError) {
      // Otherwise the next server will try.
      if (removeStaged(this.#calls, { ...placeholder, identity: undefined }) === 0) record.remove(entry);
      if (made === -EEXIST) return undefined;
      throw typeof made === "number" ? pointError(point, osErrorText(-made)) : made;
    }
    const { device, inode, createdMs } = made;
    const held: Held = { point, parent, identity: { device, inode, createdMs }, staging, record, entry, uses: 0 };
    this.#held.add(held);
    return held;
  }

  /** Says as well if it cannot be written down. */
  #make(
    what: Parameters<typeof makePlaceholder>[1],
    found: Identity | undefined,
  ): Identity | number | ExecError {
    try {
      if (found === undefined) return makePlaceholder(this.#calls, what);
      what.identified(found);
      return found;
    } catch (error) {
      if (error instanceof ExecError) return error;
      throw error;
    }
  }
}

/** Into a new record, after the old one has been removed. */
function writeDown(held: Held, record: MountPointRecord): void {
  held.entry = record.begin(held.point, held.staging);
  held.record = record;
  record.identify(held.entry, held.identity);
}

function pointError({ path }: MountPoint, reason: string): ExecError {
  return new ExecError("sandboxUnavailable", `no mount point can be made at ${toText(path)}: ${reason}`);
}
