import type { EnvironmentInfo } from "../protocol/environment.ts";
import type { Log } from "../log.ts";
import { BodyControl } from "./body_control.ts";
import type { CallOptions } from "./calls.ts";
import { ClientError, unsupported } from "./client_error.ts";
import type { Fetch } from "./fetch.ts";
import type { HttpBodies } from "./http_bodies.ts";
import { MAX_MESSAGE_DATA_BYTES, MAX_REQUESTS_AWAITED } from "./limits.ts";
import { Permits } from "../permits.ts";
import type { ServerConnection } from "./server_connection.ts";
import { type Exchange, webFetch } from "./web_fetch.ts";
import type { HttpAsk } from "./web_request.ts";
import type { HttpAnswer } from "./web_response.ts";

/** What HTTP requests need of the logical client. */
export interface FetchCore {
  /** Aborted when the client was disposed of. */
  readonly signal: AbortSignal;
  readonly log: Log;
  connection(signal?: AbortSignal): Promise<Pick<ServerConnection, "call">>;
  info(options?: CallOptions): Promise<EnvironmentInfo>;
  hasExtensions(): Promise<boolean>;
}

/**
 * A `fetch` from the server's machine. No request is repeated: one whose connection is lost has failed. Of thousands
 * that are made at once {@linkcode MAX_REQUESTS_AWAITED} are sent, and the others in turn.
 */
export function remoteFetch(core: FetchCore, bodies: HttpBodies): Fetch {
  const permits = new Permits(MAX_REQUESTS_AWAITED);

  async function send(ask: HttpAsk, signal: AbortSignal | undefined): Promise<HttpAnswer> {
    const options = signal === undefined ? {} : { signal };
    if (ask.headers.some(({ valueEnvVar }) => valueEnvVar !== null)) {
      const { capabilities } = await core.info(options);
      if (!capabilities["httpHeaderEnvVars"]) {
        throw unsupported("exec-server cannot take the values of headers from its environment variables");
      }
    }
    const connection = await core.connection(signal);
    // Before the request leaves, since the body may overtake the answer; after it is known which connection can lose it.
    const { log } = core;
    const hasExtensions = () => core.hasExtensions();
    const body = bodies.open((requestId) => new BodyControl(requestId, { connection, log, hasExtensions }));
    try {
      const params = { ...ask, requestId: body.requestId, streamResponse: true };
      const { status, headers } = await connection.call("http/request", params, options);
      return { status, headers, body };
    } catch (error) {
      // Whoever gives up leaves a server that still works on it.
      if (error instanceof ClientError) body.forget();
      else body.cancel();
      throw error;
    }
  }

  const exchange: Exchange = (ask, signal) => permits.during(() => send(ask, signal), signal);
  return webFetch(exchange, MAX_MESSAGE_DATA_BYTES, core.signal);
}
