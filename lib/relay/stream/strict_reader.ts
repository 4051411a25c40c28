import protobuf from "protobufjs/minimal.js";

const LONGEST_VARINT_BYTES = 10;
const MAX_UINT32 = 0xffff_ffff;

/**
 * Reads varints as the reference's library does, where protobufjs is laxer or stricter: each may have ten bytes, also those
 * of keys and lengths, the tenth no more than 1, also where the value is skipped.
 */
export class StrictReader extends protobuf.Reader {
  /** The lower 32 bits. */
  override uint32(): number {
    const value = this.#varint();
    return typeof value === "number" ? value : Number(value & BigInt(MAX_UINT32));
  }

  override tag(): number {
    const value = this.#varint();
    if (value > MAX_UINT32) throw new RangeError("a key has more than 32 bits");
    return Number(value);
  }

  override size(): number {
    const value = this.#varint();
    if (value > this.len - this.pos) throw new RangeError("a length goes beyond the end");
    return Number(value);
  }

  override skip(length?: number): this {
    if (length !== undefined) return super.skip(length) as this;
    this.#varint();
    return this;
  }

  /** A number as long as there are no more than four bytes of it, which is nearly always. */
  #varint(): number | bigint {
    const { buf, len } = this;
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      if (this.pos >= len) throw new RangeError("a varint goes beyond the end");
      const byte = buf[this.pos++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return this.#longVarint(BigInt(value));
  }

  #longVarint(value: bigint): bigint {
    for (let index = 4; index < LONGEST_VARINT_BYTES; index++) {
      if (this.pos >= this.len) throw new RangeError("a varint goes beyond the end");
      const byte = this.buf[this.pos++]!;
      if (index + 1 === LONGEST_VARINT_BYTES && byte > 1) break;
      value |= BigInt(byte & 0x7f) << BigInt(7 * index);
      if (byte < 0x80) return value;
    }
    throw new RangeError("a varint has more than 64 bits");
  }
}
