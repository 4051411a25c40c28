import type { Fetch } from "./fetch.ts";
import { type HttpAsk, readRequest } from "./web_request.ts";
import { type HttpAnswer, webResponse } from "./web_response.ts";

/**
 * Sends a request and resolves with its head.
 *
 * @param signal Gives up waiting for the head; afterwards the body is cancelled instead.
 */
export type Exchange = (ask: HttpAsk, signal: AbortSignal | undefined) => Promise<HttpAnswer>;

/**
 * A `fetch` whose requests are sent by `exchange`.
 *
 * @param maxBodyBytes Most bytes of a request's body.
 * @param ended Aborted when nothing can be sent any more.
 */
export function webFetch(exchange: Exchange, maxBodyBytes: number, ended: AbortSignal): Fetch {
  return async (input, init = {}) => {
    const request = await readRequest(input, init, maxBodyBytes, ended);
    return webResponse(await exchange(request.ask, request.signal), request);
  };
}
