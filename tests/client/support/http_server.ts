import type { Fetch } from "../../../lib/client/fetch.ts";
import { HttpBodies } from "../../../lib/client/http_bodies.ts";
import { silentLog } from "../../../lib/log.ts";
import { type FetchCore, remoteFetch } from "../../../lib/client/remote_fetch.ts";
import type { Params, Result } from "../../../lib/protocol/methods.ts";
import { FakeHost } from "./fake_host.ts";

export type Head = Pick<Result<"http/request">, "status" | "headers">;

/** A server whose answers and bodies a test makes. */
export class HttpServer {
  readonly host: FakeHost;
  readonly bodies = new HttpBodies();
  readonly fetch: Fetch;
  /** Aborted: the client has ended. */
  readonly end = new AbortController();
  #seq = 0;

  constructor(
    answer: (params: Params<"http/request">, signal?: AbortSignal) => Head | Promise<Head>,
    capabilities = {},
    /** Whether it can be told to hold and to end bodies. */
    extensions = false,
  ) {
    this.host = new FakeHost({
      "execServer/http/holdBody": () => ({ streaming: true }),
      "execServer/http/cancelBody": () => ({ streaming: true }),
      "http/request": async (params, { signal }) => ({
        ...await answer(params as Params<"http/request">, signal),
        bodyBase64: EMPTY,
      }),
    }, capabilities);
    const { host } = this;
    const { signal } = this.end;
    const core: FetchCore = {
      ...{ signal, log: silentLog },
      connection: () => Promise.resolve(host),
      info: () => host.info(),
      hasExtensions: () => Promise.resolve(extensions),
    };
    this.fetch = remoteFetch(core, this.bodies);
  }

  /** The next delta of a body. */
  send(text: string, { done = false, error = null as string | null, id = "http-1", seq = ++this.#seq } = {}): void {
    this.sendBytes(new TextEncoder().encode(text), { done, error, id, seq });
  }

  sendBytes(
    deltaBase64: Uint8Array<ArrayBuffer>,
    { done = false, error = null as string | null, id = "http-1", seq = ++this.#seq } = {},
  ): void {
    const params = { requestId: id, seq, deltaBase64, done, error };
    this.bodies.notification({ method: "http/request/bodyDelta", params });
  }

  /** What it was told of its bodies. */
  get told(): readonly unknown[] {
    const told = this.host.asked.filter(({ method }) => method.startsWith("execServer/http/"));
    return told.map(({ method, params }) => [method.slice("execServer/http/".length), ...Object.values(params)]);
  }

  /** What the last request said on the wire. */
  get sent(): Record<string, unknown> {
    return this.host.asked.at(-1)!.params;
  }
}

const EMPTY = new Uint8Array();
