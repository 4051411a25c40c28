import { cString } from "../../linux/cstring.ts";
import { ENOENT } from "../../linux/errno.ts";
import {
  AT_FDCWD,
  AT_SYMLINK_NOFOLLOW,
  FileStatus,
  fileSystemType,
  S_IFDIR,
  S_IFLNK,
  statusAt,
} from "../../linux/file_calls.ts";
import type { Log } from "../../log.ts";
import type { NativePath } from "../operations.ts";
import { concerns, type WatchedNames, watchedNames } from "../watched_names.ts";
import { DirectoryEvents, type DirectoryListener } from "./directory_events.ts";

/**
 * File systems that tell of every change: a network file system does not see what others do to it. These are the ones
 * that the reference trusts: ext2 to ext4, XFS, Btrfs, tmpfs and overlay.
 */
const TRUSTED_FILE_SYSTEMS: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630]);

/**
 * Watches for what is missing, all watches of a server on one inotify.
 *
 * On the way to each path every directory that exists is listened to, beginning with the root, and only then looked
 * through: what happens between the look and the answer is an event already. What counts is the next name of the way
 * (or one that may be the same), whatever happens to it (so a directory above that is renamed, or whose mode changes, counts); a link on the way,
 * or a file system that does not tell of all changes, leaves nothing to rely on. Any mount, and events that the kernel
 * dropped, count as a change of everything.
 */
export class MissingWatches implements Disposable {
  readonly #log: Log;
  /** From the first watch on. */
  #events: DirectoryEvents | null = null;
  readonly #active = new Set<ActiveWatch>();
  readonly #byDirectory = new Map<number, Set<ActiveWatch>>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** As `FileOperations.watchMissing`, of normal paths. `changed` is never called before this has returned. */
  watch(missing: readonly NativePath[], present: NativePath | null, changed: () => void): Disposable | null {
    if (missing.length === 0) return null;
    const absent = missing.map(characters);
    const kept = present === null ? null : characters(present);
    const names = watchedNames(kept === null ? absent : [...absent, kept]);
    if (names === null) return null;
    const events = this.#listen();
    if (events === null) return null;
    const watch = new ActiveWatch(changed);
    this.#active.add(watch);
    if (this.#listenTo(names, kept, watch, events) && absent.every(isMissing) && isPresent(kept)) {
      return { [Symbol.dispose]: () => this.#end(watch) };
    }
    this.#end(watch);
    return null;
  }

  /** Resolves when the last watch has ended and no thread waits any more. */
  async idle(): Promise<void> {
    await this.#events?.idle();
  }

  /** Ends all watches without a call. */
  [Symbol.dispose](): void {
    for (const watch of this.#active) this.#end(watch);
    this.#events?.[Symbol.dispose]();
  }

  #listen(): DirectoryEvents | null {
    try {
      const events = this.#events ??= new DirectoryEvents(this.#log, this.#listener());
      events.drain(); // what happened until now is no news for a new watch
      events.resume();
      return events;
    } catch (error) {
      this.#log.warn("cannot watch for missing files", { reason: String(error) });
      return null;
    }
  }

  #listener(): DirectoryListener {
    return {
      changed: (directory, name) => {
        const watches = this.#byDirectory.get(directory);
        if (watches === undefined) return;
        for (const watch of [...watches]) if (watch.heeds(directory, name)) this.#fire(watch);
      },
      lost: () => {
        for (const watch of [...this.#active]) this.#fire(watch);
      },
    };
  }

  /** Whether there is a way to rely on, as far as it exists. */
  #listenTo(names: WatchedNames, kept: string | null, watch: ActiveWatch, events: DirectoryEvents): boolean {
    const parent = kept?.slice(0, Math.max(1, kept.lastIndexOf("/")));
    for (const [path, inIt] of names) {
      const kind = kindOf(path);
      if (kind === -ENOENT) continue;
      const directory = bytesOf(path);
      if (kind !== S_IFDIR || !TRUSTED_FILE_SYSTEMS.has(fileSystemType(cString(directory)))) return false;
      const number = events.add(directory, path === parent);
      if (number < 0) return false;
      watch.add(number, inIt);
      const others = this.#byDirectory.get(number);
      if (others === undefined) this.#byDirectory.set(number, new Set([watch]));
      else others.add(watch);
    }
    return true;
  }

  #fire(watch: ActiveWatch): void {
    if (!this.#active.has(watch)) return;
    this.#end(watch);
    try {
      watch.changed();
    } catch (error) { // the other watches go on
      this.#log.error("telling of a change failed", { reason: String(error) });
    }
  }

  #end(watch: ActiveWatch): void {
    this.#active.delete(watch);
    for (const directory of watch.directories()) {
      const watches = this.#byDirectory.get(directory);
      watches?.delete(watch);
      if (watches?.size !== 0) continue;
      this.#byDirectory.delete(directory);
      this.#events?.remove(directory);
    }
    if (this.#active.size === 0) this.#events?.pause();
  }
}

class ActiveWatch {
  /** Number of a directory → the names in it that count. The same directory can be on the way by two paths. */
  readonly #names = new Map<number, ReadonlySet<string>[]>();

  constructor(readonly changed: () => void) {}

  add(directory: number, names: ReadonlySet<string>): void {
    const before = this.#names.get(directory);
    if (before === undefined) this.#names.set(directory, [names]);
    else before.push(names);
  }

  heeds(directory: number, name: string): boolean {
    return name === "" || this.#names.get(directory)?.some((names) => concerns(names, name)) === true;
  }

  directories(): Iterable<number> {
    return this.#names.keys();
  }
}

const status = new FileStatus();

/** The kind of a file, a link's own, or a negated error number. */
function kindOf(path: string): number {
  const result = statusAt(AT_FDCWD, cString(bytesOf(path)), AT_SYMLINK_NOFOLLOW, status);
  return result < 0 ? result : status.kind;
}

function isMissing(path: string): boolean {
  return kindOf(path) === -ENOENT;
}

function isPresent(path: string | null): boolean {
  if (path === null) return true;
  const kind = kindOf(path);
  return kind >= 0 && kind !== S_IFLNK;
}

/** Longer argument lists overflow the stack. */
const PIECE_BYTES = 8192;

/** A character per byte: paths are keys here. */
function characters(path: NativePath): string {
  let text = "";
  for (let at = 0; at < path.length; at += PIECE_BYTES) {
    text += String.fromCharCode(...path.subarray(at, at + PIECE_BYTES));
  }
  return text;
}

function bytesOf(text: string): NativePath {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
