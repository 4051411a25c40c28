import { encodeBase64 } from "../base64.ts";
import type { Base64Text } from "./operations.ts";

/** A multiple of three whose text is short-lived to the engine: longer strings stay until a full collection. */
const STEP_BYTES = 48 * 1024;

const encoder = new TextEncoder();

/** Collects base64 piece by piece, as the ASCII bytes that a {@linkcode Base64Text} is made of. */
export class Base64Writer {
  #text: Uint8Array<ArrayBuffer>;
  #length = 0;

  /** @param expectedBytes How many will come; more makes the text move to a larger place. */
  constructor(expectedBytes: number) {
    this.#text = new Uint8Array(textLength(expectedBytes));
  }

  /** @returns How many of the bytes were taken: all but up to two, which begin the next piece. */
  add(bytes: Uint8Array<ArrayBuffer>): number {
    const taken = bytes.length - bytes.length % 3;
    this.#write(bytes.subarray(0, taken));
    return taken;
  }

  /** @param rest The last piece, of any length. */
  end(rest: Uint8Array<ArrayBuffer>): Base64Text {
    this.#write(rest);
    return { base64: this.#text.subarray(0, this.#length) };
  }

  #write(bytes: Uint8Array<ArrayBuffer>): void {
    const needed = this.#length + textLength(bytes.length);
    if (needed > this.#text.length) {
      this.#text = new Uint8Array(this.#text.buffer.transfer(Math.max(needed, Math.ceil(this.#text.length * 1.5))));
    }
    for (let at = 0; at < bytes.length; at += STEP_BYTES) {
      const text = encodeBase64(bytes.subarray(at, at + STEP_BYTES));
      this.#length += encoder.encodeInto(text, this.#text.subarray(this.#length)).written;
    }
  }
}

function textLength(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}
