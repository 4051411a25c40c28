import { addInotifyWatch, openInotify, removeInotifyWatch } from "../../linux/file_calls.ts";
import * as inotify from "../../linux/inotify.ts";
import * as libc from "../../linux/libc.ts";
import { cString } from "../../linux/cstring.ts";
import { Poller, type Watch } from "../../linux/poller.ts";
import type { Log } from "../../log.ts";
import { checked } from "../os_error.ts";

export interface DirectoryListener {
  /**
   * Something happened in a directory.
   *
   * @param directory The number that adding it gave.
   * @param name Its name there, a character per byte; empty: the directory itself.
   */
  changed(directory: number, name: string): void;
  /** Anything may have changed: the kernel dropped events, or something was mounted or unmounted. */
  lost(): void;
}

/** Creation, removal, renaming, and changes of owner, mode or times, of the directory itself as well. */
const EVENTS = inotify.IN_CREATE | inotify.IN_DELETE | inotify.IN_MOVED_FROM | inotify.IN_MOVED_TO | inotify.IN_ATTRIB |
  inotify.IN_DELETE_SELF | inotify.IN_MOVE_SELF;
const HOW = inotify.IN_ONLYDIR | inotify.IN_DONT_FOLLOW | inotify.IN_MASK_ADD;

const MOUNTS = cString("/proc/self/mounts");

/** A read returns at least one event, which has at most 272 bytes. Nothing in it outlives a turn of the event loop. */
const buffer = new Uint8Array(new ArrayBuffer(64 * 1024));
/** Reads that empty the queue of the kernel: by default it holds 16,384 events. */
const MAX_DRAINING_READS = 70;

/**
 * The events of any number of directories, taken from one inotify and one look at the table of mounts. The inotify is
 * kept while there is nothing to deliver: closing it can take the kernel a quarter of a second.
 */
export class DirectoryEvents implements Disposable {
  readonly #listener: DirectoryListener;
  readonly #poller: Poller;
  readonly #inotify: Watch;
  /** Open while events are delivered: one that was not looked at would tell of what was mounted meanwhile. */
  #mounts: Watch | null = null;

  /** @throws {Error} If the system gives us no descriptors for it: a user may have 128 inotifies by default. */
  constructor(log: Log, listener: DirectoryListener) {
    this.#listener = listener;
    using made = new DisposableStack();
    const events = made.adopt(checked(openInotify()), libc.close);
    this.#poller = new Poller(log);
    this.#inotify = this.#poller.watch(events, { readable: () => void this.#take() });
    made.move();
  }

  /**
   * Begins to deliver events, or goes on to.
   *
   * @throws {Error} If the system gives us no descriptor for it.
   */
  resume(): void {
    if (this.#mounts !== null) return;
    using made = new DisposableStack();
    const fd = checked(libc.open(MOUNTS, libc.O_RDONLY | libc.O_CLOEXEC));
    const mounts = made.adopt(this.#poller.watch(fd, { exceptional: () => this.#listener.lost() }), (it) => it.close());
    mounts.excepting = true;
    this.#inotify.reading = true;
    this.#mounts = mounts;
    made.move();
  }

  /** Delivers none until {@linkcode resume}; then no thread waits. */
  pause(): void {
    this.#inotify.reading = false;
    this.#mounts?.close();
    this.#mounts = null;
  }

  /**
   * Begins to listen to a directory; the same one, by whatever path, has the same number.
   *
   * @param path Its last component must not be a link.
   * @param contents Whether changes of what the files in it contain are events as well. They stay so until it is removed.
   * @returns The number, or a negated error number.
   */
  add(path: Uint8Array, contents: boolean): number {
    const events = contents ? EVENTS | inotify.IN_MODIFY : EVENTS;
    return addInotifyWatch(this.#inotify.fd, cString(path), events | HOW);
  }

  /** Listens to it no more; its events that wait are dropped. One that has vanished may be removed too. */
  remove(directory: number): void {
    removeInotifyWatch(this.#inotify.fd, directory);
  }

  /** Delivers what waits now. */
  drain(): void {
    for (let reads = 0; reads < MAX_DRAINING_READS && this.#take(); reads++);
  }

  /** Resolves when no thread waits any more; not while events are delivered. */
  idle(): Promise<void> {
    return this.#poller.idle();
  }

  [Symbol.dispose](): void {
    this.pause();
    this.#inotify.close();
    this.#poller[Symbol.dispose]();
  }

  /** Whether there were any. */
  #take(): boolean {
    const count = libc.read(this.#inotify.fd, buffer);
    if (count <= 0) return false; // EAGAIN: somebody else drained it
    for (const { watch, mask, name } of inotify.inotifyEvents(buffer.subarray(0, count))) {
      if ((mask & inotify.IN_Q_OVERFLOW) !== 0) this.#listener.lost();
      else this.#listener.changed(watch, name);
    }
    return true;
  }
}
