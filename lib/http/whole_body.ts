import { encodeBase64 } from "../base64.ts";
import type { Body } from "./body.ts";

/** What is collected together, in bytes; a multiple of three, so that the base64 of the parts is that of the whole. */
const BLOCK_BYTES = 768 * 1024;

/** A body that is held in memory as a whole. */
export class WholeBody {
  readonly #full: Uint8Array<ArrayBuffer>[] = [];
  #block = new Uint8Array(0);
  #used = 0;

  /** In bytes. */
  get length(): number {
    return this.#full.length * BLOCK_BYTES + this.#used;
  }

  /**
   * Reads a body to its end.
   *
   * @param limit Most bytes that are held; undefined is returned if there are more.
   * @throws {HttpFailure} Of stage `body`.
   */
  static async read(body: Body, limit: number): Promise<WholeBody | undefined> {
    const whole = new WholeBody();
    for (let piece; (piece = await body.read()) !== null;) {
      if (whole.length + piece.length > limit) return undefined;
      whole.#append(piece);
    }
    return whole;
  }

  /** All of it. Afterwards nothing is left here. */
  takeBytes(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.length);
    let at = 0;
    for (const block of this.#takeBlocks()) {
      bytes.set(block, at);
      at += block.length;
    }
    return bytes;
  }

  /** All of it in base64, as ASCII. Afterwards nothing is left here; memory is given back block by block. */
  takeBase64(): Uint8Array<ArrayBuffer> {
    const ascii = new Uint8Array(Math.ceil(this.length / 3) * 4);
    const encoder = new TextEncoder();
    let at = 0;
    for (const block of this.#takeBlocks()) {
      at += encoder.encodeInto(encodeBase64(block), ascii.subarray(at)).written;
      block.buffer.transfer(0);
    }
    return ascii;
  }

  *#takeBlocks(): Generator<Uint8Array<ArrayBuffer>> {
    for (let block; (block = this.#full.shift()) !== undefined;) yield block;
    const last = this.#block.subarray(0, this.#used);
    this.#block = new Uint8Array(0);
    this.#used = 0;
    yield last;
  }

  #append(piece: Uint8Array): void {
    for (let rest = piece; rest.length > 0;) {
      if (this.#used === this.#block.length) this.#makeRoom(rest.length);
      const length = Math.min(rest.length, this.#block.length - this.#used);
      this.#block.set(rest.subarray(0, length), this.#used);
      this.#used += length;
      rest = rest.subarray(length);
      if (this.#used === BLOCK_BYTES) {
        this.#full.push(this.#block);
        this.#block = new Uint8Array(0);
        this.#used = 0;
      }
    }
  }

  /** The first block grows with what comes: most bodies are small. */
  #makeRoom(wanted: number): void {
    const block = new Uint8Array(Math.min(BLOCK_BYTES, Math.max(wanted, this.#used * 2)));
    block.set(this.#block);
    this.#block = block;
  }
}
