import type { Bytes } from "./libc.ts";

const encoder = new TextEncoder();

/** Text or bytes as C wants them, with a NUL at the end. There must be none inside: C would stop there. */
export function cString(text: string | Uint8Array): Bytes {
  const bytes = typeof text === "string" ? encoder.encode(text) : text;
  const result = new Uint8Array(new ArrayBuffer(bytes.length + 1));
  result.set(bytes);
  return result;
}

/** A `char *[]` for C together with the memory that its pointers point into. */
export interface CStringArray {
  readonly pointers: Bytes;
  /** Only here so that it lives as long as the pointers. */
  readonly block: Bytes;
}

/** All strings in one block, so that one address is asked for and not one per string. */
export function cStringArray(strings: readonly (string | Uint8Array)[]): CStringArray {
  const encoded = strings.map((text) => typeof text === "string" ? encoder.encode(text) : text);
  const size = encoded.reduce((sum, bytes) => sum + bytes.length + 1, 1);
  const block = new Uint8Array(new ArrayBuffer(size));
  const pointers = new BigUint64Array(encoded.length + 1);
  let address = Deno.UnsafePointer.value(Deno.UnsafePointer.of(block));
  let offset = 0;
  encoded.forEach((bytes, index) => {
    block.set(bytes, offset);
    pointers[index] = address;
    offset += bytes.length + 1;
    address += BigInt(bytes.length + 1);
  });
  return { pointers: new Uint8Array(pointers.buffer), block };
}
