import * as libc from "../../linux/libc.ts";
import { EAGAIN, EINTR, EIO } from "../../linux/errno.ts";
import type { Clock, Timer } from "../../clock.ts";
import { MAX_CHUNK_BYTES } from "../child.ts";
import type { Watch } from "../../linux/poller.ts";

/**
 * Bytes read from one descriptor in one turn of the event loop. More makes other clients wait (measured: 1 MiB per
 * turn, p90 of a second client 9.7 ms; 128 KiB, 3.7 ms). Bytes and not reads, since a terminal gives at most 4 KiB each.
 */
const TURN_BYTES = 128 * 1024;
/** A chunk is handed on when less than this is free: reading on into the rest would only make system calls. */
const WORTHWHILE_READ_BYTES = 8 * 1024;
/** Most that a terminal is drained of at its program's end; the kernel holds far less. */
const TERMINAL_DRAIN_BYTES = 1024 * 1024;

/** A turn that yields less counts as a tiny write. */
const TINY_BYTES = 2048;
/** Two tiny writes closer than this are the beginning of a stream of them. */
const STREAM_GAP_MS = 2;
/** How long such a stream is left alone so that its writes gather. */
const GATHER_MS = 1;
/**
 * What a pipe that such a stream comes through is enlarged to: the usual 64 KiB are full before the rest is over, and
 * the program waits (measured with writes of 64 bytes: 30 to 60 % more gets through). Programs that write in larger
 * pieces, which are most, keep the usual size and pay nothing.
 */
const STREAM_PIPE_BYTES = 256 * 1024;
/** After a write to the program its output is an answer that somebody waits for: no gathering for this long. */
const ANSWER_MS = 20;
/** How often a terminal that the program has let go of is tried again, in case it opens it again. */
const REOPENED_MS = 50;

/** Shared by all readers: whoever is handed a part of it is done with it before the next read. */
const buffer = new Uint8Array(new ArrayBuffer(MAX_CHUNK_BYTES));

export interface OutputReaderOptions {
  /** The descriptor; the owner of the watch calls {@linkcode OutputReader.readable} and closes it. */
  readonly watch: Watch;
  readonly terminal: boolean;
  readonly clock: Clock;
  /** Takes bytes that are valid during the call; false pauses. */
  deliver(bytes: Uint8Array<ArrayBuffer>): boolean;
  /** Nothing more can come. */
  ended(): void;
}

/** Reads one output of a program as fast as it is taken. */
export class OutputReader {
  readonly #options: OutputReaderOptions;
  #paused = false;
  #ended = false;
  #programEnded = false;
  #enlarged = false;
  #lastReadAt = -Infinity;
  #answerUntil = -Infinity;
  #rest: Timer | null = null;

  constructor(options: OutputReaderOptions) {
    this.#options = options;
  }

  start(): void {
    this.#listen();
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Something was written to the program. */
  expectAnswer(): void {
    this.#answerUntil = this.#options.clock.now() + ANSWER_MS;
    this.#endRest();
  }

  /** Reads on after `deliver` returned false. */
  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#listen();
  }

  /** What the watch calls. */
  readable(): void {
    const now = this.#options.clock.now();
    const total = this.#read(TURN_BYTES, false);
    if (this.#ended || this.#paused || this.#rest !== null) return;
    const stream = total < TINY_BYTES && now - this.#lastReadAt < STREAM_GAP_MS && now > this.#answerUntil;
    this.#lastReadAt = now;
    if (!stream) return;
    this.#enlargePipe();
    this.#restFor(GATHER_MS);
  }

  /**
   * Delivers what is there at the program's end, also while paused: the kernel bounds it (64 KiB for a pipe unless the
   * program enlarged it), and the exit need not wait for whoever paused us. What others write meanwhile may follow.
   */
  drain(): void {
    this.#programEnded = true;
    if (this.#ended) return;
    if (this.#options.watch.stopped) { // whoever listens has failed, and the poller has given up on him
      this.#atEnd();
      return;
    }
    this.#endRest();
    const held = this.#options.terminal ? TERMINAL_DRAIN_BYTES : libc.readableBytes(this.#options.watch.fd);
    this.#read(held + 1, true); // one more, to see the end if it comes directly after
  }

  /** Reads no more, and says nothing about it. */
  cut(): void {
    this.#ended = true;
    this.#rest?.cancel();
    this.#rest = null;
    if (!this.#options.watch.stopped) this.#options.watch.reading = false;
  }

  /** @returns The number of bytes read: until nothing is there, about `budget` is spent or we are paused. */
  #read(budget: number, evenPaused: boolean): number {
    const { watch, deliver } = this.#options;
    let fill = 0;
    let total = 0;
    let refusals = 0;
    while (total < budget && !this.#ended && (evenPaused || !this.#paused)) {
      const count = libc.read(watch.fd, fill === 0 ? buffer : buffer.subarray(fill));
      if (count > 0) {
        refusals = 0;
        fill += count;
        total += count;
        if (buffer.length - fill >= WORTHWHILE_READ_BYTES) continue;
        if (!deliver(buffer.subarray(0, fill))) this.#pause();
        fill = 0;
      } else if (count === -EINTR) {
        continue;
      } else if (count === -EAGAIN) {
        break;
      } else if (count === -EIO && ++refusals === 1) {
        // A terminal can refuse between its look for data and the last write before the close; the next read then
        // has that data (seen 1 in 2000 starts). Only two refusals in a row are the end.
        continue;
      } else {
        if (fill > 0 && !deliver(buffer.subarray(0, fill))) this.#pause();
        this.#atEnd();
        return total;
      }
    }
    if (fill > 0 && !deliver(buffer.subarray(0, fill))) this.#pause();
    return total;
  }

  #enlargePipe(): void {
    if (this.#enlarged || this.#options.terminal) return;
    this.#enlarged = true;
    // A user with many pipes may not be given more; the pipe then stays as it is.
    libc.setPipeSize(this.#options.watch.fd, STREAM_PIPE_BYTES);
  }

  /** A living program that has let go of its terminal can open it again, so that is no end yet. */
  #atEnd(): void {
    if (this.#ended) return; // ended by whoever took the last bytes
    if (this.#options.terminal && !this.#programEnded) {
      this.#restFor(REOPENED_MS);
      return;
    }
    this.cut();
    this.#options.ended();
  }

  #pause(): void {
    if (this.#ended) return;
    this.#paused = true;
    this.#options.watch.reading = false;
  }

  #listen(): void {
    const { watch } = this.#options;
    if (!this.#ended && !this.#paused && this.#rest === null && !watch.stopped) watch.reading = true;
  }

  #restFor(ms: number): void {
    this.#options.watch.reading = false;
    this.#rest = this.#options.clock.after(ms, () => {
      this.#rest = null;
      this.#listen();
    });
  }

  #endRest(): void {
    if (this.#rest === null) return;
    this.#rest.cancel();
    this.#rest = null;
    this.#listen();
  }
}
