/**
 * The record of placeholders: a directory that only this user may use, shared by all servers of his. Each server has a
 * file there that it keeps locked while it lives, `ID.lock`, and one file for each placeholder that it needs, `ID.N`, empty
 * when it needs it no more. All are changed under one lock, `lock`.
 *
 * The kernel lets go of a lock when its holder dies, however that happens; so a file that can be locked is a dead
 * server's, and what it needed can go.
 */

import { ExecError } from "../errors.ts";
import { EAGAIN, ENOENT, osErrorText } from "../linux/errno.ts";
import * as files from "../linux/file_calls.ts";
import { type Bytes, O_RDONLY, O_RDWR, O_WRONLY } from "../linux/libc.ts";
import type { MountPointCalls } from "./mount_point_calls.ts";
import { encodeIdentity, encodeIntent, MAX_ENTRY_BYTES, parseEntry, type RecordEntry } from "./mount_point_entry.ts";
import type { Identity, MountPoint } from "./placeholder.ts";

const FILE_MODE = 0o600;
const O_TRUNC = 0o1000;
const O_APPEND = 0o2000;
const LOCK_NAME = "lock";
const NAME = /^([0-9a-f]{32})\.(?:lock|\d{1,15})$/;

/** A server other than this one, as it stands in the record; to be released when it has been looked at. */
export interface OtherServer extends Disposable {
  readonly isAlive: boolean;
  /** By their names; undefined: nothing has been made of it yet. */
  readonly entries: ReadonlyMap<string, RecordEntry | undefined>;
  /** Strikes off an entry of a dead server. */
  remove(entry: string): void;
  /** Strikes off a dead server whose entries have been. */
  forget(): void;
}

/** Everything that it throws is an `ExecError` of the kind `sandboxUnavailable`. Nothing here waits. */
export class MountPointRecord implements Disposable {
  readonly #calls: MountPointCalls;
  readonly #path: string;
  /** -1 when the record is closed. */
  #directory: number;
  readonly #id = crypto.randomUUID().replaceAll("-", "");
  /** The descriptor of our own file; -1 until there is one. */
  #own = -1;
  /** Our entries, and files of former ones: it is the making of files that takes time. */
  readonly #used = new Set<string>();
  readonly #free: string[] = [];

  /**
   * @param path Of the directory, which has been checked.
   * @param directory A descriptor of it, which is closed with the record.
   */
  constructor(calls: MountPointCalls, path: string, directory: number) {
    this.#calls = calls;
    this.#path = path;
    this.#directory = directory;
  }

  /** Locks the record: what to close to unlock it. */
  tryLock(): number | "busy" | "gone" {
    const lock = this.#calls.open(this.#directory, LOCK_NAME, files.O_CREAT | O_RDWR, FILE_MODE);
    if (lock === -ENOENT) return "gone";
    if (lock < 0) throw recordError(lock);
    const locked = this.#calls.tryLock(lock, files.LOCK_EX);
    if (locked === 0) return lock;
    this.#calls.close(lock);
    if (locked !== -EAGAIN) throw recordError(locked);
    return "busy";
  }

  /**
   * Writes down what is about to be made or needed. This and all that follows happens under the lock.
   *
   * @returns The name of the entry.
   */
  begin(point: MountPoint, staging: string): string {
    if (this.#own < 0) this.#begin();
    const name = this.#free.pop() ?? `${this.#id}.${this.#used.size}`;
    this.#used.add(name);
    try {
      this.#write(name, files.O_CREAT | O_TRUNC | O_WRONLY, encodeIntent({ ...point, staging }));
    } catch (error) {
      this.#used.delete(name);
      this.#free.push(name);
      throw error;
    }
    return name;
  }

  /** Writes down which object it is. */
  identify(entry: string, identity: Identity): void {
    this.#write(entry, O_WRONLY | O_APPEND, encodeIdentity(identity));
  }

  /** Strikes off an entry of ours. */
  remove(entry: string): void {
    this.#calls.close(this.#open(entry, O_TRUNC | O_WRONLY));
    this.#used.delete(entry);
    this.#free.push(entry);
  }

  *others(): Generator<OtherServer, void, void> {
    for (const [id, names] of Map.groupBy(this.#list(), (name) => name.slice(0, name.indexOf(".")))) {
      if (id !== this.#id) yield this.#other(id, names.filter((name) => !name.endsWith(".lock")));
    }
  }

  /** Strikes this server off if it has no entries. */
  leave(): void {
    if (this.#own < 0 || this.#used.size > 0) return;
    for (const name of this.#free.splice(0)) this.#unlink(name);
    this.#unlink(`${this.#id}.lock`);
  }

  /** Ends the use of the record. Entries that are left are those of a dead server from now on. */
  [Symbol.dispose](): void {
    if (this.#own >= 0) {
      this.#calls.close(this.#own);
      this.#own = -1;
    }
    this.#calls.close(this.#directory);
    this.#directory = -1;
  }

  #begin(): void {
    const own = this.#open(`${this.#id}.lock`, files.O_CREAT | files.O_EXCL | O_RDWR);
    const locked = this.#calls.tryLock(own, files.LOCK_EX);
    if (locked < 0) {
      this.#calls.close(own);
      throw recordError(locked);
    }
    this.#own = own;
  }

  #other(id: string, names: readonly string[]): OtherServer {
    const lock = this.#calls.open(this.#directory, `${id}.lock`, O_RDWR, 0);
    if (lock < 0 && lock !== -ENOENT) throw recordError(lock);
    const locked = lock < 0 ? 0 : this.#calls.tryLock(lock, files.LOCK_EX);
    if (locked < 0 && locked !== -EAGAIN) {
      this.#calls.close(lock);
      throw recordError(locked);
    }
    return {
      isAlive: locked < 0,
      entries: new Map(names.map((name) => [name, this.#read(name)])),
      remove: (entry) => this.#unlink(entry),
      forget: () => this.#unlink(`${id}.lock`),
      [Symbol.dispose]: () => lock < 0 || this.#calls.close(lock),
    };
  }

  #unlink(name: string): void {
    const removed = this.#calls.removeFile(this.#directory, name);
    if (removed < 0 && removed !== -ENOENT) throw recordError(removed);
  }

  #list(): string[] {
    try {
      return this.#calls.list(this.#path).filter((name) => NAME.test(name));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      throw recordError(-ENOENT);
    }
  }

  #open(name: string, flags: number): number {
    const file = this.#calls.open(this.#directory, name, flags, FILE_MODE);
    if (file < 0) throw recordError(file);
    return file;
  }

  #read(name: string): RecordEntry | undefined {
    const file = this.#open(name, O_RDONLY);
    const buffer: Bytes = new Uint8Array(MAX_ENTRY_BYTES);
    const length = this.#calls.read(file, buffer);
    this.#calls.close(file);
    if (length < 0) throw recordError(length);
    return parseEntry(buffer.subarray(0, length));
  }

  /** One call, which a kill cannot tear. */
  #write(name: string, flags: number, bytes: Bytes): void {
    const file = this.#open(name, flags);
    const written = this.#calls.write(file, bytes);
    this.#calls.close(file);
    if (written < 0) throw recordError(written);
    if (written < bytes.length) throw new ExecError("sandboxUnavailable", "the record of mount points has no room");
  }
}

function recordError(result: number): ExecError {
  return new ExecError("sandboxUnavailable", `the record of mount points cannot be used: ${osErrorText(-result)}`);
}
