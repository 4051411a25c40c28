import type { StreamName } from "./child.ts";

/** Most output of one process that is kept for reading, in bytes. Source: the reference's retention, 1 MiB. */
export const RETAINED_BYTES = 1024 * 1024;

/** Most chunks of one process that are kept, however small. Source: the reference's retention. */
export const RETAINED_CHUNKS = 50_000;

/** One piece of output; `bytes` is a copy that belongs to the caller. */
export interface OutputChunk {
  readonly seq: number;
  readonly stream: StreamName;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const STREAMS: readonly StreamName[] = ["stdout", "stderr", "pty"];
const FIRST_CAPACITY_BYTES = 256;
const FIRST_CAPACITY_CHUNKS = 16;

/**
 * The newest output of one process: at most {@linkcode RETAINED_BYTES} bytes and {@linkcode RETAINED_CHUNKS} chunks.
 * Past either, whole chunks are forgotten from the front; a reader sees that as a first number larger than expected.
 *
 * Bytes and chunk descriptions lie in two rings that double until they hold the limit, so a program that prints a line
 * costs a few hundred bytes and one that prints for hours allocates nothing. Positions count all bytes ever appended
 * and are exact up to 2^53 (at 1 GB/s, 104 days).
 */
export class OutputLog {
  readonly #limitBytes: number;
  readonly #limitChunks: number;
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  /** Per chunk: its number, the position of its first byte, its stream as an index into STREAMS. */
  #seqs = new Float64Array(0);
  #starts = new Float64Array(0);
  #streams = new Uint8Array(0);
  /** Index in the chunk rings of the oldest chunk, and how many there are. */
  #first = 0;
  #count = 0;
  /** Position of the oldest retained byte, and the one after the newest. */
  #head = 0;
  #tail = 0;

  /**
   * @param limitBytes Most bytes to keep.
   * @param limitChunks Most chunks to keep.
   * @throws {RangeError} If a limit is not a positive integer.
   */
  constructor(limitBytes: number = RETAINED_BYTES, limitChunks: number = RETAINED_CHUNKS) {
    requirePositiveInteger("limitBytes", limitBytes);
    requirePositiveInteger("limitChunks", limitChunks);
    this.#limitBytes = limitBytes;
    this.#limitChunks = limitChunks;
  }

  /** Bytes kept now. */
  get byteLength(): number {
    return this.#tail - this.#head;
  }

  /** Chunks kept now. */
  get chunkCount(): number {
    return this.#count;
  }

  /** The number of the newest chunk; 0 when none is kept. */
  get lastSeq(): number {
    return this.#count === 0 ? 0 : this.#seqs[this.#slot(this.#count - 1)]!;
  }

  /**
   * Keeps a copy of one chunk and forgets as many of the oldest as the limits demand.
   *
   * @param seq Its number, larger than any before.
   * @throws {RangeError} If the numbers do not ascend, or the chunk alone exceeds the limit.
   */
  append(seq: number, stream: StreamName, bytes: Uint8Array<ArrayBuffer>): void {
    if (seq <= this.lastSeq) throw new RangeError(`chunk ${seq} does not follow chunk ${this.lastSeq}`);
    if (bytes.length > this.#limitBytes) {
      throw new RangeError(`a chunk of ${bytes.length} bytes exceeds the limit of ${this.#limitBytes} bytes`);
    }
    while (this.byteLength + bytes.length > this.#limitBytes || this.#count >= this.#limitChunks) this.#forgetOldest();
    this.#makeRoom(bytes.length);
    const slot = this.#slot(this.#count++);
    this.#seqs[slot] = seq;
    this.#starts[slot] = this.#tail;
    this.#streams[slot] = STREAMS.indexOf(stream);
    put(this.#bytes, this.#tail, bytes);
    this.#tail += bytes.length;
  }

  /**
   * Copies of the kept chunks with a number above `seq`, ascending. Chunks are never cut: the first is always among
   * them, further ones while the sum stays within `maxBytes`.
   *
   * @param seq Any number; one beyond the end gives no chunks.
   * @param maxBytes Most bytes altogether; null: no bound but the log's own.
   */
  after(seq: number, maxBytes: number | null = null): OutputChunk[] {
    const chunks: OutputChunk[] = [];
    let sum = 0;
    for (let index = this.#firstAfter(seq); index < this.#count; index++) {
      const slot = this.#slot(index);
      const start = this.#starts[slot]!;
      const length = this.#end(index) - start;
      if (maxBytes !== null && chunks.length > 0 && sum + length > maxBytes) break;
      chunks.push({ seq: this.#seqs[slot]!, stream: STREAMS[this.#streams[slot]!]!, bytes: this.#copy(start, length) });
      sum += length;
      if (maxBytes !== null && sum >= maxBytes) break;
    }
    return chunks;
  }

  /** Copies of everything kept, one after the other; with `stream`, of that stream only. */
  contents(stream?: StreamName): Uint8Array<ArrayBuffer> {
    if (stream === undefined) return this.#copy(this.#head, this.byteLength);
    const wanted = STREAMS.indexOf(stream);
    const joined = new Uint8Array(this.byteLength);
    let length = 0;
    for (let index = 0; index < this.#count; index++) {
      const slot = this.#slot(index);
      if (this.#streams[slot] !== wanted) continue;
      const start = this.#starts[slot]!;
      const chunk = this.#copy(start, this.#end(index) - start);
      joined.set(chunk, length);
      length += chunk.length;
    }
    return joined.subarray(0, length);
  }

  #slot(index: number): number {
    return (this.#first + index) % this.#seqs.length;
  }

  /** Position after the last byte of a chunk. */
  #end(index: number): number {
    return index + 1 === this.#count ? this.#tail : this.#starts[this.#slot(index + 1)]!;
  }

  /** Index of the first chunk with a number above `seq`, by bisection; the count if there is none. */
  #firstAfter(seq: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#seqs[this.#slot(middle)]! > seq) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #forgetOldest(): void {
    this.#head = this.#end(0);
    this.#first = (this.#first + 1) % this.#seqs.length;
    this.#count--;
  }

  #makeRoom(length: number): void {
    const needed = this.byteLength + length;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(
        doubled(Math.max(this.#bytes.length, FIRST_CAPACITY_BYTES), needed, this.#limitBytes),
      );
      for (const piece of this.#pieces(this.#head, this.byteLength)) put(grown, this.#head + piece.offset, piece.bytes);
      this.#bytes = grown;
    }
    if (this.#count === this.#seqs.length) {
      const capacity = doubled(Math.max(this.#count, FIRST_CAPACITY_CHUNKS), this.#count + 1, this.#limitChunks);
      this.#seqs = regrown(this.#seqs, this.#first, new Float64Array(capacity));
      this.#starts = regrown(this.#starts, this.#first, new Float64Array(capacity));
      this.#streams = regrown(this.#streams, this.#first, new Uint8Array(capacity));
      this.#first = 0;
    }
  }

  #copy(start: number, length: number): Uint8Array<ArrayBuffer> {
    const pieces = this.#pieces(start, length);
    if (pieces.length === 1) return pieces[0]!.bytes.slice();
    const copy = new Uint8Array(length);
    for (const piece of pieces) copy.set(piece.bytes, piece.offset);
    return copy;
  }

  /** Views of a range of positions: one, or two where it runs over the end of the ring. */
  #pieces(start: number, length: number): { offset: number; bytes: Uint8Array<ArrayBuffer> }[] {
    if (length === 0) return [];
    const capacity = this.#bytes.length;
    const from = start % capacity;
    const head = Math.min(length, capacity - from);
    const pieces = [{ offset: 0, bytes: this.#bytes.subarray(from, from + head) }];
    if (head < length) pieces.push({ offset: head, bytes: this.#bytes.subarray(0, length - head) });
    return pieces;
  }
}

/** Writes bytes at a position of a ring, over its end where necessary. */
function put(ring: Uint8Array<ArrayBuffer>, position: number, bytes: Uint8Array<ArrayBuffer>): void {
  if (bytes.length === 0) return;
  const from = position % ring.length;
  const room = ring.length - from;
  if (bytes.length <= room) {
    ring.set(bytes, from);
  } else {
    ring.set(bytes.subarray(0, room), from);
    ring.set(bytes.subarray(room), 0);
  }
}

/** `capacity` doubled until it holds `needed`, but no more than `limit`. */
function doubled(capacity: number, needed: number, limit: number): number {
  while (capacity < needed) capacity *= 2;
  return Math.min(capacity, limit);
}

/** The contents of a full ring, unrolled to the start of a larger one. */
function regrown<A extends Float64Array | Uint8Array>(ring: A, first: number, larger: A): A {
  larger.set(ring.subarray(first), 0);
  larger.set(ring.subarray(0, first), ring.length - first);
  return larger;
}

function requirePositiveInteger(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new RangeError(`${name} must be a positive integer, got ${value}`);
  }
}
