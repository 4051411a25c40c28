import type { Bytes } from "./primitives.ts";

/**
 * What a library has given, as an array with memory of its own. What lies in a larger buffer, such as Node's pool, is copied
 * out of it and wiped there.
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
