import * as libc from "./libc.ts";
import type { Log } from "../log.ts";

/** What is done when a descriptor is ready. A hang-up or an error counts as whichever of them is wanted. */
export interface WatchHandlers {
  readable?(): void;
  writable?(): void;
  /** An exceptional condition: a table of mounts has changed. Looking clears it. */
  exceptional?(): void;
}

/**
 * Events taken from the kernel in one turn of the event loop; the next turn begins with the others. Each may mean 128 KiB
 * of output to be passed on, and other clients wait meanwhile.
 */
const BATCH_EVENTS = 16;
const HANGUP_OR_ERROR = libc.EPOLLHUP | libc.EPOLLERR;

/** One descriptor of a {@linkcode Poller}; it wants nothing at first. */
export class Watch {
  /** @internal Names this registration to the kernel; unlike `fd` never used again. 0 while nothing is wanted. */
  id = 0;
  #wanted = 0;
  #stopped = false;
  #closed = false;

  constructor(readonly fd: number, readonly poller: Poller, readonly handlers: WatchHandlers) {}

  get reading(): boolean {
    return (this.#wanted & libc.EPOLLIN) !== 0;
  }

  set reading(on: boolean) {
    this.#want(libc.EPOLLIN, on);
  }

  get writing(): boolean {
    return (this.#wanted & libc.EPOLLOUT) !== 0;
  }

  set writing(on: boolean) {
    this.#want(libc.EPOLLOUT, on);
  }

  get excepting(): boolean {
    return (this.#wanted & libc.EPOLLPRI) !== 0;
  }

  set excepting(on: boolean) {
    this.#want(libc.EPOLLPRI, on);
  }

  /** Whether nothing can be wanted any more. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Stops watching for good; the descriptor stays open. */
  stop(): void {
    this.#want(libc.EPOLLIN | libc.EPOLLOUT | libc.EPOLLPRI, false);
    this.#stopped = true;
  }

  /** Stops watching and closes the descriptor. Harmless when done before. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.stop();
    libc.close(this.fd);
  }

  /** @internal */
  dispatch(events: number): void {
    if (this.reading && (events & (libc.EPOLLIN | HANGUP_OR_ERROR)) !== 0) this.handlers.readable?.();
    if (this.writing && (events & (libc.EPOLLOUT | HANGUP_OR_ERROR)) !== 0) this.handlers.writable?.();
    if (this.excepting && (events & (libc.EPOLLPRI | HANGUP_OR_ERROR)) !== 0) this.handlers.exceptional?.();
  }

  #want(events: number, on: boolean): void {
    const before = this.#wanted;
    const wanted = on ? before | events : before & ~events;
    if (wanted === before) return;
    if (this.#stopped) throw new Error(`descriptor ${this.fd} is no longer watched`);
    this.poller.update(this, before, wanted);
    this.#wanted = wanted;
  }
}

/**
 * Waits for every descriptor of its owner on one thread: an epoll in one call that does not block the event loop.
 * Interest can be changed while the thread waits; it is woken only to end. While nothing is wanted nothing waits, so
 * that a program (or a test) that is done can end.
 */
export class Poller implements Disposable {
  readonly #log: Log;
  readonly #epoll: number;
  readonly #wakeUp: number;
  readonly #watches = new Map<number, Watch>();
  readonly #events = new Uint8Array(new ArrayBuffer(BATCH_EVENTS * libc.EPOLL_EVENT_SIZE));
  readonly #eventsView = new DataView(this.#events.buffer);
  readonly #change = new Uint8Array(new ArrayBuffer(libc.EPOLL_EVENT_SIZE));
  readonly #changeView = new DataView(this.#change.buffer);
  #lastId = 0;
  #waiting = false;
  #running: Promise<void> | null = null;
  #disposed = false;
  #closed = false;

  /** @throws {Error} If the machine has no descriptors left. */
  constructor(log: Log) {
    this.#log = log;
    this.#epoll = libc.epollCreate();
    if (this.#epoll < 0) throw new Error(`cannot create an epoll: errno ${-this.#epoll}`);
    this.#wakeUp = libc.eventDescriptor();
    if (this.#wakeUp < 0) {
      libc.close(this.#epoll);
      throw new Error(`cannot create an eventfd: errno ${-this.#wakeUp}`);
    }
    this.#control(libc.EPOLL_CTL_ADD, this.#wakeUp, libc.EPOLLIN, 0);
  }

  /** Takes no ownership of `fd` until {@linkcode Watch.close}. It should be non-blocking. */
  watch(fd: number, handlers: WatchHandlers): Watch {
    return new Watch(fd, this, handlers);
  }

  /** Resolves when no thread waits (any more). */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  /**
   * @internal Tells the kernel what a watch wants now.
   * @throws {Error} If it cannot watch the descriptor, or no more of them.
   */
  update(watch: Watch, before: number, wanted: number): void {
    if (this.#closed) throw new Error("the poller has been disposed of");
    if (wanted === 0) {
      this.#control(libc.EPOLL_CTL_DEL, watch.fd, 0, 0);
      this.#watches.delete(watch.id);
      if (this.#watches.size === 0 && this.#waiting) libc.write(this.#wakeUp, ONE);
      return;
    }
    if (before === 0) watch.id = ++this.#lastId;
    this.#control(before === 0 ? libc.EPOLL_CTL_ADD : libc.EPOLL_CTL_MOD, watch.fd, wanted, watch.id);
    this.#watches.set(watch.id, watch);
    this.#running ??= this.#run();
  }

  /** Closes what is the poller's own as soon as nothing is wanted of it any more. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    void this.idle().then(() => {
      this.#closed = true;
      libc.close(this.#epoll);
      libc.close(this.#wakeUp);
    });
  }

  /** The id travels as a double: 53 bits that the kernel only hands back. */
  #control(operation: number, fd: number, events: number, id: number): void {
    this.#changeView.setUint32(0, events, true);
    this.#changeView.setFloat64(libc.EPOLL_DATA_OFFSET, id, true);
    const result = libc.epollControl(this.#epoll, operation, fd, this.#change);
    if (result < 0) throw new Error(`cannot watch descriptor ${fd}: errno ${-result}`);
  }

  async #run(): Promise<void> {
    while (this.#watches.size > 0) {
      this.#waiting = true;
      const count = await libc.epollWait(this.#epoll, this.#events);
      this.#waiting = false;
      for (let index = 0; index < count; index++) {
        const offset = index * libc.EPOLL_EVENT_SIZE;
        const id = this.#eventsView.getFloat64(offset + libc.EPOLL_DATA_OFFSET, true);
        if (id === 0) libc.read(this.#wakeUp, COUNTER);
        // A handler that ran earlier in this batch may have ended this watch: its id is then unknown, while its
        // descriptor number may already be somebody else's.
        const watch = this.#watches.get(id);
        if (watch !== undefined) this.#dispatch(watch, this.#eventsView.getUint32(offset, true));
      }
    }
    this.#running = null;
  }

  #dispatch(watch: Watch, events: number): void {
    try {
      watch.dispatch(events);
    } catch (error) {
      // One broken listener must not stop the others. Its descriptor would report the same event for ever.
      this.#log.error("a listener of a descriptor failed", { reason: String(error) });
      watch.stop();
    }
  }
}

/** What an eventfd wants: eight bytes, the number one. */
const ONE = new Uint8Array(new BigUint64Array([1n]).buffer);
const COUNTER = new Uint8Array(new ArrayBuffer(8));
