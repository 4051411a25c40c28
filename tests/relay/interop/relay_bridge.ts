/**
 * A WebSocket listener each of whose connections goes on through a relay, so that whatever talks to a server by its URL
 * also talks to one behind a relay. Our harness is between the two.
 */
import type { Carrier } from "../../../lib/client/carrier.ts";
import type { RelayStream } from "../../../lib/relay/stream/stream.ts";
import type { Connection } from "../../../lib/rpc/connection.ts";

/** A connection that waits longer is none. */
const OPEN_TIMEOUT_MS = 20_000;
/** What a WebSocket says that lost what is behind it. */
const GONE = 1011;

export class RelayBridge implements AsyncDisposable {
  readonly #carrier: Carrier;
  readonly #use: Disposable | undefined;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #links = new Set<Promise<void>>();
  readonly #over = new AbortController();

  constructor(carrier: Carrier) {
    this.#carrier = carrier;
    this.#use = carrier.use?.();
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
      const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout: 0 });
      const link = this.#serve(socket).finally(() => this.#links.delete(link));
      this.#links.add(link);
      return response;
    });
  }

  get url(): string {
    return `ws://127.0.0.1:${this.#server.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort(new Error("the bridge has ended"));
    while (this.#links.size > 0) await Promise.all(this.#links);
    await this.#server.shutdown();
    this.#use?.[Symbol.dispose]();
  }

  /** Resolves when both sides have gone. */
  async #serve(socket: WebSocket): Promise<void> {
    socket.binaryType = "arraybuffer";
    const early: (string | Uint8Array<ArrayBuffer>)[] = [];
    const closed = Promise.withResolvers<void>();
    const given = new AbortController();
    let connection: Connection | undefined;
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      const message = typeof data === "string" ? data : new Uint8Array(data);
      if (connection === undefined) early.push(message);
      else send(connection, message);
    };
    socket.onerror = () => {}; // `close` follows
    socket.onclose = () => {
      given.abort(new Error("the client has gone"));
      closed.resolve();
    };
    const leave = () => close(socket);
    this.#over.signal.addEventListener("abort", leave);
    try {
      const signal = AbortSignal.any([given.signal, this.#over.signal, AbortSignal.timeout(OPEN_TIMEOUT_MS)]);
      const opened = await this.#carrier.open({ signal });
      connection = opened.connection;
      connection.start({
        message(message) {
          const text = typeof message === "string" ? message : new TextDecoder().decode(message);
          if (socket.readyState === WebSocket.OPEN) socket.send(text);
        },
        ended: () => close(socket),
      });
      for (const message of early) send(connection, message);
      await closed.promise;
      connection.close();
      await opened.gone;
    } catch {
      close(socket); // why there is no stream is the business of who tests it directly
      await closed.promise;
    } finally {
      this.#over.signal.removeEventListener("abort", leave);
    }
  }
}

/** Bytes go as they are: they may be no text. */
function send(connection: Connection, message: string | Uint8Array<ArrayBuffer>): void {
  if (typeof message === "string") connection.send(message);
  else (connection as RelayStream).sendBytes(message);
}

function close(socket: WebSocket): void {
  if (socket.readyState === WebSocket.OPEN) socket.close(GONE);
}
