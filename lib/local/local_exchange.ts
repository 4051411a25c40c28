import type { ByteSource } from "../client/byte_source.ts";
import { transportClosed } from "../client/client_error.ts";
import { asServerError } from "../client/exec_error.ts";
import { streamFailure } from "../client/http_bodies.ts";
import type { Exchange } from "../client/web_fetch.ts";
import type { HttpAnswer } from "../client/web_response.ts";
import type { HttpAsk } from "../client/web_request.ts";
import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { Body } from "../http/body.ts";
import { checkedRequest } from "../http/checked_request.ts";
import type { HttpClient } from "../http/client.ts";
import { HttpFailure } from "../http/failure.ts";
import { TimeLimit } from "../http/time_limit.ts";
import { lazily } from "../lazily.ts";

const httpClient = lazily(() => import("../http/client.ts"));

export interface LocalExchangesOptions {
  readonly clock: Clock;
  /** For proxies, certificates and the values of headers. */
  readonly variables: ReadonlyMap<string, string>;
  /** Aborted when the environment ends; so do all exchanges. */
  readonly ended: AbortSignal;
}

/** HTTP requests from this process, in a server's words. A body that is read slowly holds its peer up. */
export class LocalExchanges implements Disposable {
  readonly #options: LocalExchangesOptions;
  #client: HttpClient | undefined;
  #count = 0;

  constructor(options: LocalExchangesOptions) {
    this.#options = options;
  }

  readonly exchange: Exchange = async (ask, signal) => {
    const requestId = `http-${++this.#count}`;
    try {
      return await this.#send(ask, requestId, signal);
    } catch (error) {
      signal?.throwIfAborted();
      throw this.#options.ended.aborted ? transportClosed() : asServerError(error);
    }
  };

  [Symbol.dispose](): void {
    this.#client?.[Symbol.dispose]();
  }

  async #send(ask: HttpAsk, requestId: string, signal: AbortSignal | undefined): Promise<HttpAnswer> {
    const { clock, variables, ended } = this.#options;
    ended.throwIfAborted();
    const request = checkedRequest(ask, variables);
    if (ask.timeoutMs === 0) throw new ExecError("internal", "http/request failed: route-aware request timed out");
    const aborter = new AbortController();
    const outer = AbortSignal.any([aborter.signal, ended]);
    const limit = new TimeLimit(clock, ask.timeoutMs, outer);
    const abort = () => aborter.abort(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      const client = await this.#loaded();
      const { status, headers, body } = await client.send(request, ask.redirectPolicy, limit.signal);
      return { status, headers: headers.printable(), body: new LocalBody(body, { requestId, limit, aborter, ended }) };
    } catch (error) {
      limit[Symbol.dispose]();
      if (!(error instanceof HttpFailure)) throw error;
      throw new ExecError("internal", `http/request failed: ${error.message}`, { cause: error });
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  async #loaded(): Promise<HttpClient> {
    const { HttpClient } = await httpClient();
    const { clock, variables, ended } = this.#options;
    this.#client ??= new HttpClient({ clock, environment: () => variables });
    if (ended.aborted) this.#client[Symbol.dispose]();
    return this.#client;
  }
}

interface BodyOptions {
  readonly requestId: string;
  readonly limit: TimeLimit;
  readonly aborter: AbortController;
  readonly ended: AbortSignal;
}

class LocalBody implements ByteSource {
  readonly #body: Body;
  readonly #options: BodyOptions;

  constructor(body: Body, options: BodyOptions) {
    this.#body = body;
    this.#options = options;
  }

  async read(): Promise<Uint8Array<ArrayBuffer> | null> {
    try {
      const bytes = await this.#body.read();
      if (bytes !== null) return new Uint8Array(bytes);
      this.cancel();
      return null;
    } catch (error) {
      this.cancel();
      if (!(error instanceof HttpFailure)) throw error;
      const { requestId, ended } = this.#options;
      throw streamFailure(requestId, ended.aborted ? transportClosed().message : error.message);
    }
  }

  /** Ends a reading that is under way as well. */
  cancel(): void {
    this.#body[Symbol.dispose]();
    this.#options.aborter.abort();
    this.#options.limit[Symbol.dispose]();
  }
}
