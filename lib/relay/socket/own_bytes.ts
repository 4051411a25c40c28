/**
 * A message's bytes for somebody who may keep them: `ws` cuts small messages out of what was read from the network at
 * once, and one that is kept would keep all of it, 64 KiB.
 */
export function ownBytes(data: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (data.byteLength < data.buffer.byteLength) return new Uint8Array(data);
  return new Uint8Array(data.buffer);
}
