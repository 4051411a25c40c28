/** `http/request`, and what our extensions add to it: what carries the request out is loaded with the first. */

import type { Clock } from "../clock.ts";
import { checkedRequest } from "../http/checked_request.ts";
import { type Log, silentLog } from "../log.ts";
import type { RequestName } from "../protocol/methods.ts";
import type { ConnectionScope } from "./connection_scope.ts";
import type { Handler } from "./handler.ts";
import { HttpStreams } from "./http_streams.ts";

export interface HttpHandlerOptions {
  readonly clock: Clock;
  /** Hears why a request failed, where the wire has no words for it. */
  readonly log?: Log;
  /** The server's own variables: for proxies, certificates and the values of headers. */
  readonly inherited: () => ReadonlyMap<string, string>;
}

type HttpMethod = Extract<RequestName, "http/request" | `execServer/http/${string}`>;

export function httpHandlers(
  { clock, log = silentLog, inherited }: HttpHandlerOptions,
): { readonly [M in HttpMethod]: Handler<M> } {
  const streamsOf = (scope: ConnectionScope) => new HttpStreams({ scope, clock, log, environment: inherited });
  return {
    "http/request": (params, { connection, afterAnswer }) => {
      const streams = connection.resource(streamsOf);
      const { requestId, streamResponse, redirectPolicy, timeoutMs } = params;
      const asked = () => ({ request: checkedRequest(params, inherited()), redirects: redirectPolicy, timeoutMs });
      return streamResponse ? streams.stream(requestId, asked, afterAnswer) : streams.whole(asked());
    },
    "execServer/http/holdBody": ({ requestId, hold }, { connection }) => ({
      streaming: connection.resource(streamsOf).hold(requestId, hold),
    }),
    "execServer/http/cancelBody": ({ requestId }, { connection }) => ({
      streaming: connection.resource(streamsOf).cancel(requestId),
    }),
  };
}
