import type { Bytes } from "./primitives.ts";

/**
 * What a function of Node has given, as an array with memory of its own. Where the buffer lies in a shared pool it is
 * copied out and wiped there.
 */
export function plainBytes(buffer: Uint8Array): Bytes {
  const { buffer: memory, byteOffset, byteLength } = buffer;
  if (memory instanceof ArrayBuffer && memory.byteLength === byteLength) {
    return new Uint8Array(memory, byteOffset, byteLength);
  }
  const copy = new Uint8Array(buffer);
  buffer.fill(0);
  return copy;
}
