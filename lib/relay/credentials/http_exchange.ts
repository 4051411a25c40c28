import type { Clock } from "../../clock.ts";
import { MAX_ANSWER_BYTES } from "./limits.ts";

/** How a credential reaches its own services. */
export interface Network {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
}

export interface Answer {
  readonly status: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** There was no whole answer; the message says why in a few words, without the address. */
export class ExchangeFailed extends Error {
  override readonly name = "ExchangeFailed";
}

/**
 * One request of a credential and its whole answer. Redirections are not followed: they would take what is sent to
 * somebody else.
 *
 * @param timeoutMs For all of it.
 * @throws {ExchangeFailed}
 */
export async function exchange(
  { fetch, clock }: Network,
  url: string,
  init: RequestInit,
  timeoutMs: number,
): Promise<Answer> {
  const timeout = new AbortController();
  const timer = clock.after(timeoutMs, () => timeout.abort());
  try {
    const response = await fetch(url, { ...init, redirect: "manual", signal: timeout.signal });
    return { status: response.status, bytes: await readBounded(response) };
  } catch (error) {
    if (error instanceof ExchangeFailed) throw error;
    const why = timeout.signal.aborted ? `no answer within ${timeoutMs / 1000} s` : "no connection, or it broke";
    throw new ExchangeFailed(why, { cause: error });
  } finally {
    timer.cancel();
  }
}

async function readBounded(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const piece of response.body ?? []) {
    length += piece.length;
    // Leaving the loop cancels the rest.
    if (length > MAX_ANSWER_BYTES) throw new ExchangeFailed(`an answer of more than ${MAX_ANSWER_BYTES} bytes`);
    pieces.push(piece);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
