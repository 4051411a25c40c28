import type { EnvironmentInfo } from "../protocol/environment.ts";
import type { CallOptions } from "./calls.ts";
import { unsupported } from "./client_error.ts";
import type { Fetch } from "./fetch.ts";
import type { HttpBodies } from "./http_bodies.ts";
import { MAX_MESSAGE_DATA_BYTES } from "./limits.ts";
import type { ServerConnection } from "./server_connection.ts";
import { webFetch } from "./web_fetch.ts";

/** What HTTP requests need of the logical client. */
export interface FetchCore {
  /** Aborted when the client was disposed of. */
  readonly signal: AbortSignal;
  connection(signal?: AbortSignal): Promise<Pick<ServerConnection, "call">>;
  info(options?: CallOptions): Promise<EnvironmentInfo>;
}

/** A `fetch` from the server's machine. No request is repeated: one whose connection is lost has failed. */
export function remoteFetch(core: FetchCore, bodies: HttpBodies): Fetch {
  return webFetch(
    async (ask, signal) => {
      const options = signal === undefined ? {} : { signal };
      if (ask.headers.some(({ valueEnvVar }) => valueEnvVar !== null)) {
        const { capabilities } = await core.info(options);
        if (!capabilities["httpHeaderEnvVars"]) {
          throw unsupported("exec-server cannot take the values of headers from its environment variables");
        }
      }
      const connection = await core.connection(signal);
      // Before the request leaves, since the body may overtake the answer; after it is known which connection can lose it.
      const body = bodies.open();
      try {
        const params = { ...ask, requestId: body.requestId, streamResponse: true };
        const { status, headers } = await connection.call("http/request", params, options);
        return { status, headers, body };
      } catch (error) {
        body.cancel();
        throw error;
      }
    },
    MAX_MESSAGE_DATA_BYTES,
    core.signal,
  );
}
