import type { Clock } from "../clock.ts";
import { extraCertificates, systemCertificates } from "./certificates.ts";
import { connect } from "./connect.ts";
import { decoded, offeredCodings } from "./decoded.ts";
import { exchange, type HttpResponse } from "./exchange.ts";
import { HttpFailure, sendFailure } from "./failure.ts";
import { Pool } from "./pool.ts";
import { proxyFor } from "./proxy.ts";
import { MAX_REDIRECTS, redirected, redirectTarget } from "./redirect.ts";
import { type HttpRequest, type RequestBytes, requestBytes } from "./request_head.ts";
import { readingProxy, type Route, routeTo } from "./route.ts";
import type { Socket } from "./socket.ts";

export interface HttpClientOptions {
  readonly clock: Clock;
  /** Variables that name proxies and certificates. */
  readonly environment: () => ReadonlyMap<string, string>;
}

/**
 * Asks HTTP peers; keeps the connections that can be used again. Leaving its scope ends those.
 *
 * Why not a library: what leaves must be the caller's headers, in lower case and in order, and nothing but the four of
 * the wire; what comes must be seen raw and be held up by a slow reader. `fetch` adds headers and hides what came; undici
 * puts `host` and `connection` first, which nothing turns off. `node:http` can send such a head, but streamed a gigabyte
 * over loopback at 380 MB/s with 370 MB of memory, where the platform's sockets bring 1,830 MB/s with 37 MB. So TCP, TLS
 * and the choice among addresses are the platform's, the decompression is Node's, and the few rules of HTTP/1.1 that
 * are left stand here, with the reference's bounds.
 */
export class HttpClient implements Disposable {
  readonly #environment: () => ReadonlyMap<string, string>;
  readonly #pool: Pool;

  constructor({ clock, environment }: HttpClientOptions) {
    this.#environment = environment;
    this.#pool = new Pool(clock);
  }

  /**
   * @param redirects Whether they are followed.
   * @param signal Ends the exchange, its body included, whatever it waits for.
   * @returns When the head has come. Its body has to be read to the end or disposed of.
   * @throws {HttpFailure}
   */
  async send(request: HttpRequest, redirects: "follow" | "stop", signal: AbortSignal): Promise<HttpResponse> {
    const acceptEncoding = await offeredCodings();
    let hop = request;
    for (let followed = 0;; followed++) {
      const response = await this.#sendOnce(hop, acceptEncoding, signal);
      const target = redirects === "stop" ? undefined : redirectTarget(hop.url, response.status, response.headers);
      if (target === undefined) return await decoded(response, signal);
      response.body[Symbol.dispose]();
      checkTarget(target, followed);
      hop = redirected(hop, response.status, target);
    }
  }

  [Symbol.dispose](): void {
    this.#pool[Symbol.dispose]();
  }

  async #sendOnce(request: HttpRequest, acceptEncoding: string, signal: AbortSignal): Promise<HttpResponse> {
    const { url, method } = request;
    try {
      signal.throwIfAborted();
      const environment = this.#environment();
      const certificates = await extraCertificates(environment);
      const route = routeTo(url, proxyFor(url, environment));
      const bytes = requestBytes(request, readingProxy(route), acceptEncoding);
      const kept = await this.#keptAlive(route, method);
      if (kept !== undefined) {
        try {
          return await this.#exchange(route, kept, method, bytes, signal);
        } catch (error) {
          // The peer ended it at the moment in which we wrote, and has not acted on what it never read.
          if (kept.answered || signal.aborted || !IDEMPOTENT.has(method)) throw error;
        }
      }
      const trusted = async () => [...certificates, ...await systemCertificates()];
      return await this.#exchange(route, await connect(route, trusted, signal), method, bytes, signal);
    } catch (error) {
      throw error instanceof HttpFailure ? error : sendFailure(url, error);
    }
  }

  /** A connection that was used before, and whose peer has not ended it as far as can be seen. */
  async #keptAlive(route: Route, method: string): Promise<Socket | undefined> {
    for (let kept; (kept = this.#pool.take(route.key)) !== undefined;) {
      const { socket, idleMs } = kept;
      if (IDEMPOTENT.has(method) || idleMs >= SETTLED_MS) return socket;
      // One turn of the event loop, which takes two milliseconds: an end that has reached this machine is heard by then.
      await new Promise((resolve) => setTimeout(resolve, 0));
      if (socket.waiting) return socket;
      socket[Symbol.dispose]();
    }
    return undefined;
  }

  /** `signal` closes the connection until the body has been read. */
  async #exchange(
    route: Route,
    socket: Socket,
    method: string,
    bytes: RequestBytes,
    signal: AbortSignal,
  ): Promise<HttpResponse> {
    const stop = () => socket[Symbol.dispose]();
    const finish = (reusable: boolean) => {
      signal.removeEventListener("abort", stop);
      if (reusable && !socket.closed) this.#pool.keep(route.key, socket);
      else stop();
    };
    signal.addEventListener("abort", stop, { once: true });
    try {
      signal.throwIfAborted();
      return await exchange(socket, method, bytes, finish);
    } catch (error) {
      finish(false);
      throw error;
    }
  }
}

/** Methods that may be repeated when it is not known whether the peer acted (RFC 9110 9.2.2). */
const IDEMPOTENT: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);

/**
 * A peer that ends a connection behind its answer does so at once. After this many milliseconds its end has been heard,
 * and what cannot be repeated can be sent without another look.
 */
const SETTLED_MS = 20;

function checkTarget(target: URL, followed: number): void {
  const scheme = target.protocol.slice(0, -1);
  if (scheme !== "http" && scheme !== "https") {
    throw new HttpFailure("request", `redirect target uses unsupported URL scheme: ${scheme}`);
  }
  if (followed === MAX_REDIRECTS) throw new HttpFailure("request", "too many redirects");
}
