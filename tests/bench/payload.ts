/** Counts the bytes that a flood of `process/output` carries at the price of a glance at each message. */
import type { WireClient } from "../support/wire_client.ts";

/** The head of a message within which everything but the chunk itself must lie, in bytes. */
const HEAD_BYTES = 256;
const QUOTE = 0x22;
const BRACE = 0x7d;
const PADDING = 0x3d;
const latin1 = new TextDecoder("latin1");

/**
 * How many bytes the chunk of one `process/output` has; null if this message is something else, or is not laid out so
 * that a glance suffices, and has to be decoded.
 */
export function outputBytes(message: Uint8Array): number | null {
  const head = latin1.decode(message.subarray(0, HEAD_BYTES));
  const member = head.indexOf('"chunk":"');
  if (member < 0 || !head.includes('"method":"process/output"')) return null;
  const start = member + 9;
  let end = message.lastIndexOf(QUOTE);
  // Seldom: another member follows the chunk. Base64 holds no quote, so the next one is its end.
  if (!message.subarray(end + 1).every((byte) => byte === BRACE)) end = message.indexOf(QUOTE, start);
  if (end < start || (end - start) % 4 !== 0) return null;
  const padding = message[end - 1] !== PADDING || end === start ? 0 : message[end - 2] === PADDING ? 2 : 1;
  return (end - start) / 4 * 3 - padding;
}

/** Counts what one process says until it has closed. Takes over `tap` and `onNotification` of the client. */
export class FloodCounter {
  bytes = 0;
  /** Resolves at `process/closed`. */
  readonly closed: Promise<void>;

  constructor(client: WireClient, processId: string) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    client.tap = (message) => {
      const count = outputBytes(message);
      this.bytes += count ?? 0;
      return count !== null;
    };
    client.onNotification = (method, params) => {
      if (params["processId"] !== processId) throw new Error(`unexpected ${method} during a flood`);
      if (method === "process/output") this.bytes += Uint8Array.fromBase64(params["chunk"] as string).length;
      if (method === "process/closed") resolve();
    };
  }
}
