/**
 * For bytes that are kept for a while: a copy if they are less than half of the memory that they are a view into, which
 * would be kept as well and which nobody counts.
 */
export function keptBytes(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return bytes.length * 2 < bytes.buffer.byteLength ? new Uint8Array(bytes) : bytes;
}
