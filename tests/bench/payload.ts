/** Counts the bytes that a flood of `process/output` carries at the price of a glance at each message. */
import type { WireClient } from "../support/wire_client.ts";

/** The head of a message within which everything but the chunk itself must lie, in characters. */
const HEAD_CHARS = 256;

/**
 * How many bytes the chunk of one `process/output` has; null if this message is something else, or is not laid out so
 * that a glance suffices, and has to be parsed.
 */
export function outputBytes(message: string): number | null {
  return payloadBytes(message, "process/output", "chunk");
}

/** The same of one piece of a response: `http/request/bodyDelta`. */
export function bodyBytes(message: string): number | null {
  return payloadBytes(message, "http/request/bodyDelta", "deltaBase64");
}

function payloadBytes(message: string, method: string, name: string): number | null {
  const head = message.slice(0, HEAD_CHARS);
  const member = head.indexOf(`"${name}":"`);
  if (member < 0 || !head.includes(`"method":"${method}"`)) return null;
  const start = member + name.length + 4;
  const end = message.indexOf('"', start); // base64 holds no quote
  return end < start ? null : base64Bytes(message, start, end);
}

/** How many bytes the base64 from `start` to `end` of a text stands for; null if it is not whole. */
export function base64Bytes(text: string, start = 0, end = text.length): number | null {
  if ((end - start) % 4 !== 0) return null;
  const padding = end === start || text[end - 1] !== "=" ? 0 : text[end - 2] === "=" ? 2 : 1;
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
