import { abortable } from "../abortable.ts";

/**
 * All of a stream; undefined if it is longer than `limit` bytes. The stream is cancelled then, and when this fails.
 *
 * @throws {TypeError} It holds something else than bytes. Or the stream's own failure; or the signal's reason.
 */
export async function collected(
  stream: ReadableStream<Uint8Array>,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await abortable(reader.read(), signal);
      if (done) break;
      if (!(value instanceof Uint8Array)) throw new TypeError("the stream holds something else than bytes");
      length += value.length;
      if (length > limit) {
        await reader.cancel();
        return undefined;
      }
      chunks.push(value);
    }
  } catch (error) {
    // A stream that has failed says so again here; one that takes its time to be cancelled holds nobody up.
    reader.cancel(error).catch(() => {});
    throw error;
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
