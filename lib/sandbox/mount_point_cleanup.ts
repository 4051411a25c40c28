/** Removes what servers have left that were killed, whenever somebody has the record locked. */

import type { MountPointCalls } from "./mount_point_calls.ts";
import type { RecordEntry } from "./mount_point_entry.ts";
import type { MountPointRecord, OtherServer } from "./mount_point_record.ts";
import {
  type Identity,
  isAbsence,
  isSame,
  nameOf,
  openParent,
  removePlaceholder,
  removeStaged,
} from "./placeholder.ts";

export interface CleanupOptions {
  readonly calls: MountPointCalls;
  /** Whether this server itself relies on an object. */
  readonly isHeld: (identity: Identity) => boolean;
  /** Hears the error number of what could not be removed; it stays in the record. */
  readonly left: (result: number) => void;
}

/** @returns What other servers that live rely on. */
export function cleanUpAfterTheDead(record: MountPointRecord, options: CleanupOptions): Identity[] {
  using scope = new DisposableStack();
  const servers = [...record.others()].map((server) => scope.use(server));
  const living = servers.filter(({ isAlive }) => isAlive).flatMap(({ entries }) => [...entries.values()]);
  const others = living.flatMap((entry) => entry?.identity ?? []);
  const isNeeded = (identity: Identity): boolean =>
    options.isHeld(identity) || others.some((other) => isSame(other, identity));
  for (const server of servers) if (!server.isAlive) bury(server, isNeeded, options);
  return others;
}

function bury(server: OtherServer, isNeeded: CleanupOptions["isHeld"], { calls, left }: CleanupOptions): void {
  let isDone = true;
  for (const [name, entry] of server.entries) {
    const result = entry === undefined ? 0 : removeRecorded(calls, entry, isNeeded);
    if (result === 0) server.remove(name);
    else {
      isDone = false;
      left(result);
    }
  }
  if (isDone) server.forget();
}

function removeRecorded(calls: MountPointCalls, entry: RecordEntry, isNeeded: CleanupOptions["isHeld"]): number {
  const { path, kind, staging, identity } = entry;
  const parent = openParent(calls, path);
  if (parent < 0) return isAbsence(parent) ? 0 : parent;
  const placeholder = { parent, name: nameOf(path), kind, staging, identity };
  const stays = identity !== undefined && isNeeded(identity);
  const result = stays ? removeStaged(calls, placeholder) : removePlaceholder(calls, placeholder);
  calls.close(parent);
  return result;
}
