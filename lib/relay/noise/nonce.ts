import type { Bytes } from "./primitives.ts";

/** AES-GCM's nonce in Noise: four zero bytes, then the count as 64 bits, most significant byte first. */
export function nonceOf(count: number): Bytes {
  if (!Number.isSafeInteger(count) || count < 0) throw new RangeError("a nonce counts from 0 in whole numbers");
  const nonce = new Uint8Array(12);
  const view = new DataView(nonce.buffer);
  view.setUint32(4, Math.floor(count / 2 ** 32));
  view.setUint32(8, count % 2 ** 32);
  return nonce;
}
