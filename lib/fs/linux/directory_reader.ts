import { ENOENT } from "../../linux/errno.ts";
import * as calls from "../../linux/file_calls.ts";
import type { Bytes } from "../../linux/libc.ts";
import { checked } from "../os_error.ts";
import type { Steps } from "../steps.ts";

/** Kinds of entries, as far as the file system tells them without a look at each (`d_type`). */
export const DT_UNKNOWN = 0;
export const DT_DIR = 4;
export const DT_REG = 8;
export const DT_LNK = 10;

/** `struct linux_dirent64`: inode and position, 8 bytes each, then these, and the name up to a NUL. */
const LENGTH_OFFSET = 16;
const TYPE_OFFSET = 18;
const NAME_OFFSET = 19;

/** About a thousand entries, which the kernel needs half a millisecond for. */
const BUFFER_BYTES = 32 * 1024;
/** Buffers kept for the next reader; more are given back. */
const MAX_SPARE_BUFFERS = 32;
const spareBuffers: Bytes[] = [];

const DOT = 0x2e;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Steps through the entries of an open directory in the order of its file system, without `.` and `..`. */
export class DirectoryReader implements Disposable {
  /** Null when nothing more is to be read. */
  #fd: number | null;
  #buffer: Bytes;
  #filled = 0;
  #next = 0;
  #nameStart = 0;
  #nameEnd = 0;
  #type = DT_UNKNOWN;

  /** @param fd Must stay open until the reader is left, or has read ahead. */
  constructor(fd: number) {
    this.#fd = fd;
    this.#buffer = spareBuffers.pop() ?? new Uint8Array(new ArrayBuffer(BUFFER_BYTES));
  }

  /**
   * Goes to the next entry; a small step.
   *
   * @returns Whether there is one.
   * @throws {OsError}
   */
  advance(): boolean {
    for (;;) {
      if (this.#next === this.#filled && !this.#fill()) return false;
      const buffer = this.#buffer;
      const at = this.#next;
      this.#next = at + buffer[at + LENGTH_OFFSET]! + (buffer[at + LENGTH_OFFSET + 1]! << 8);
      const start = at + NAME_OFFSET;
      if (buffer[start] === DOT) {
        if (buffer[start + 1] === 0 || (buffer[start + 1] === DOT && buffer[start + 2] === 0)) continue;
      }
      this.#nameStart = start;
      this.#nameEnd = buffer.indexOf(0, start);
      this.#type = buffer[at + TYPE_OFFSET]!;
      return true;
    }
  }

  /** The kind of the entry itself, `DT_…`. */
  get type(): number {
    return this.#type;
  }

  /** What is no UTF-8 in the name shows as U+FFFD. */
  get text(): string {
    return decoder.decode(this.#buffer.subarray(this.#nameStart, this.#nameEnd));
  }

  /** The name and a NUL; good until the next call of {@linkcode advance}. */
  get name(): Bytes {
    return this.#buffer.subarray(this.#nameStart, this.#nameEnd + 1);
  }

  /** Bytes of the name. */
  get nameLength(): number {
    return this.#nameEnd - this.#nameStart;
  }

  /**
   * Reads all that is left into memory, so that the directory can be closed. What is held then is as large as the
   * directory itself.
   *
   * @throws {OsError}
   */
  *readAhead(): Steps<void> {
    const pieces = [this.#buffer.slice(this.#next, this.#filled)];
    while (this.#fill()) {
      pieces.push(this.#buffer.slice(0, this.#filled));
      yield;
    }
    this.#giveBack();
    const total = pieces.reduce((sum, { length }) => sum + length, 0);
    this.#buffer = new Uint8Array(new ArrayBuffer(total));
    for (const piece of pieces) {
      this.#buffer.set(piece, this.#filled);
      this.#filled += piece.length;
    }
  }

  [Symbol.dispose](): void {
    this.#fd = null;
    this.#giveBack();
  }

  #fill(): boolean {
    if (this.#fd === null) return false;
    const filled = calls.readDirectoryEntries(this.#fd, this.#buffer);
    // ENOENT: the directory was removed meanwhile, which is what an empty one is taken for.
    this.#filled = filled === -ENOENT ? 0 : checked(filled);
    this.#next = 0;
    if (this.#filled === 0) this.#fd = null;
    return this.#filled > 0;
  }

  #giveBack(): void {
    if (this.#buffer.length === BUFFER_BYTES && spareBuffers.length < MAX_SPARE_BUFFERS) {
      spareBuffers.push(this.#buffer);
    }
    this.#buffer = new Uint8Array(new ArrayBuffer(0));
    this.#next = this.#filled = 0;
  }
}
