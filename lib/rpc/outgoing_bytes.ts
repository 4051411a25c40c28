/** A buffer that grew beyond this, for one very large message, is not kept. */
const KEPT_BYTES = 4 * 1024 * 1024;
const FIRST_BYTES = 64 * 1024;

const LINE_FEED = 0x0a;

const encoder = new TextEncoder();

/**
 * Lines on their way to becoming bytes on a pipe. They become bytes when they are added and not when they leave, and
 * two buffers take turns: what waits in JavaScript strings would be moved by every garbage collection (measured: 40 MB
 * more resident memory after a flood).
 *
 * Not bounded by itself: whoever adds looks at {@linkcode length}.
 */
export class OutgoingBytes {
  #filling = new Uint8Array(0);
  /** The bytes that wait: from here to there. */
  #start = 0;
  #end = 0;
  /** What was taken last; filled next. */
  #taken = new Uint8Array(0);

  /** How many bytes wait. */
  get length(): number {
    return this.#end - this.#start;
  }

  /**
   * Appends one text as UTF-8, and a newline; returns a view of all that waits, valid until the next call. A text of a
   * hundred megabytes would be copied if the newline were appended to it before.
   */
  addLine(text: string): Uint8Array<ArrayBuffer> {
    // A UTF-16 unit makes one byte as a rule, and three at most.
    this.#reserve(text.length + 1);
    const { read, written } = encoder.encodeInto(text, this.#filling.subarray(this.#end));
    this.#end += written;
    if (read < text.length) {
      const rest = text.slice(read);
      this.#reserve(3 * rest.length + 1);
      this.#end += encoder.encodeInto(rest, this.#filling.subarray(this.#end)).written;
    }
    this.#reserve(1);
    this.#filling[this.#end++] = LINE_FEED;
    return this.#filling.subarray(this.#start, this.#end);
  }

  /** Forgets the first `count` of the bytes that wait: they have left already. */
  skip(count: number): void {
    this.#start += count;
    if (this.#start === this.#end) this.#start = this.#end = 0;
  }

  /** Everything that waits; the bytes are the caller's until the next take. */
  take(): Uint8Array<ArrayBuffer> {
    const filled = this.#filling.subarray(this.#start, this.#end);
    const next = this.#taken.length <= KEPT_BYTES ? this.#taken : new Uint8Array(0);
    this.#taken = this.#filling;
    this.#filling = next;
    this.#start = this.#end = 0;
    return filled;
  }

  #reserve(bytes: number): void {
    if (this.#filling.length - this.#end >= bytes) return;
    const larger = new Uint8Array(Math.max(this.length + bytes, 2 * this.#filling.length, FIRST_BYTES));
    larger.set(this.#filling.subarray(this.#start, this.#end));
    this.#end -= this.#start;
    this.#start = 0;
    this.#filling = larger;
  }
}
