/** A conversation over one stream, with no more of a client than measurements need. */
import type { OpenedConnection } from "../../lib/client/carrier.ts";
import type { Connection, Message } from "../../lib/rpc/connection.ts";

// deno-lint-ignore no-explicit-any -- looked at member by member
type Wire = any;

export class RelayPeer implements AsyncDisposable {
  /** Sees each message before it is parsed; true: that was all. */
  tap: ((message: string) => boolean) | null = null;
  onNotification: (message: Wire) => void = () => {};
  readonly #connection: Connection;
  readonly #gone: Promise<void> | undefined;
  readonly #pending = new Map<number, { resolve(result: Wire): void; reject(error: Error): void }>();
  readonly #decoder = new TextDecoder();
  #nextId = 1;
  #end: Error | undefined;

  constructor({ connection, gone }: OpenedConnection) {
    this.#connection = connection;
    this.#gone = gone;
    connection.start({
      message: (message) => this.#take(message),
      ended: ({ reason }) => {
        this.#end = new Error(`the stream has ended: ${reason}`);
        for (const { reject } of this.#pending.values()) reject(this.#end);
        this.#pending.clear();
      },
    });
  }

  request(method: string, params: unknown = null): Promise<Wire> {
    return this.requestText((id) => JSON.stringify({ id, method, params }));
  }

  /** The same where the text is made by the caller. */
  requestText(text: (id: number) => string): Promise<Wire> {
    const { promise, resolve, reject } = Promise.withResolvers<Wire>();
    if (this.#end !== undefined) {
      reject(this.#end);
      return promise;
    }
    const id = this.#nextId++;
    this.#pending.set(id, { resolve, reject });
    this.#connection.send(text(id));
    return promise;
  }

  async initialize(): Promise<void> {
    await this.request("initialize", { clientName: "bench" });
    this.#connection.send(JSON.stringify({ method: "initialized", params: {} }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.close();
    await this.#gone;
  }

  #take(message: Message): void {
    const text = typeof message === "string" ? message : this.#decoder.decode(message);
    if (this.tap?.(text)) return;
    const wire = JSON.parse(text) as Wire;
    if (wire.id === undefined) return this.onNotification(wire);
    const pending = this.#pending.get(wire.id);
    this.#pending.delete(wire.id);
    if (wire.error === undefined) pending?.resolve(wire.result);
    else pending?.reject(new Error(`${wire.error.code}: ${wire.error.message}`));
  }
}
