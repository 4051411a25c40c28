const FRAME_MAGIC = 0xfd2fb528;
/** The lowest of sixteen numbers that begin a frame without content. */
const SKIPPABLE_MAGIC = 0x184d2a50;

type Part = "magic" | "skippable-size" | "descriptor" | "block-header" | "passing";

/**
 * Finds where the frames of a zstd stream end (RFC 8878 3.1), without decompressing them. The platform's decompressor
 * drops a second frame that it gets together with the end of the first one, and takes a stream that was cut short for a
 * whole one; so it gets the frames apart, and the end is judged here.
 */
export class ZstdFrames {
  #part: Part = "magic";
  /** The bytes of the part that have come, as a little-endian number, and how many they are. */
  #value = 0;
  #have = 0;
  /** What is left to pass by, in bytes, and what comes behind it. */
  #toPass = 0;
  #next: Part = "magic";
  #hasChecksum = false;

  /** Whether what has come so far ends where a frame ends. */
  get whole(): boolean {
    return this.#part === "magic" && this.#have === 0;
  }

  /**
   * Cuts a piece of the stream behind every frame that ends in it.
   *
   * @throws {TypeError} If this is no zstd stream.
   */
  *split(piece: Uint8Array): Generator<Uint8Array> {
    let begin = 0;
    for (let at = 0; at < piece.length;) {
      if (this.#part === "passing") {
        const length = Math.min(this.#toPass, piece.length - at);
        this.#toPass -= length;
        at += length;
        if (this.#toPass === 0) this.#part = this.#next;
      } else {
        this.#collect(piece[at++]!);
      }
      if (this.whole) {
        yield piece.subarray(begin, at);
        begin = at;
      }
    }
    if (begin < piece.length) yield piece.subarray(begin);
  }

  #collect(byte: number): void {
    this.#value += byte * 2 ** (8 * this.#have++);
    if (this.#have < LENGTHS[this.#part]) return;
    const value = this.#value;
    this.#value = this.#have = 0;
    if (this.#part === "magic") this.#part = partAfterMagic(value);
    else if (this.#part === "skippable-size") this.#pass(value, "magic");
    else if (this.#part === "descriptor") this.#frameHeader(value);
    else this.#blockHeader(value);
  }

  #frameHeader(descriptor: number): void {
    const singleSegment = (descriptor & 0x20) !== 0;
    this.#hasChecksum = (descriptor & 0x04) !== 0;
    const contentSize = [singleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6]!;
    this.#pass((singleSegment ? 0 : 1) + [0, 1, 2, 4][descriptor & 3]! + contentSize, "block-header");
  }

  #blockHeader(value: number): void {
    const [last, kind, size] = [(value & 1) !== 0, (value >> 1) & 3, value >> 3];
    if (kind === 3) throw new TypeError("a zstd block of an unknown kind");
    // A block of one byte that is repeated has that byte alone.
    const length = (kind === 1 ? 1 : size) + (last && this.#hasChecksum ? 4 : 0);
    this.#pass(length, last ? "magic" : "block-header");
  }

  #pass(length: number, next: Part): void {
    this.#toPass = length;
    this.#next = next;
    this.#part = length === 0 ? next : "passing";
  }
}

const LENGTHS: Readonly<Record<Part, number>> = {
  "magic": 4,
  "skippable-size": 4,
  "descriptor": 1,
  "block-header": 3,
  "passing": 0,
};

function partAfterMagic(magic: number): Part {
  if (magic === FRAME_MAGIC) return "descriptor";
  if (magic >= SKIPPABLE_MAGIC && magic < SKIPPABLE_MAGIC + 16) return "skippable-size";
  throw new TypeError("not a zstd frame");
}
