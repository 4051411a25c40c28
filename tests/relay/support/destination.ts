/** A server that a forwarder connects to, by hand. Leaving the scope ends it. */
import { Changes } from "./changes.ts";
import { ServerSocket } from "./server_socket.ts";
import { accepting, readUpgrade, refusing, type UpgradeRequest } from "./upgrade.ts";

export interface Arrival {
  readonly upgrade: UpgradeRequest;
  readonly socket: ServerSocket;
  readonly binary: Uint8Array<ArrayBuffer>[];
  readonly texts: string[];
}

export interface DestinationOptions {
  /** Upgrades are refused with this status. */
  readonly status?: number;
  /** Upgrades are not answered. */
  readonly hangs?: boolean;
}

export class Destination implements AsyncDisposable {
  /** Upgrades that came, however they were answered. */
  readonly upgrades: UpgradeRequest[] = [];
  readonly arrivals: Arrival[] = [];
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #changes = new Changes();
  readonly #options: DestinationOptions;
  readonly #serving: Promise<void>;
  readonly #connections = new Set<Promise<void>>();
  readonly #open = new Set<Deno.TcpConn>();

  constructor(options: DestinationOptions = {}) {
    this.#options = options;
    this.#serving = this.#serve();
  }

  get url(): string {
    return `ws://127.0.0.1:${this.#listener.addr.port}`;
  }

  until<T>(what: string, look: () => T | undefined | false): Promise<T> {
    return this.#changes.until(what, look);
  }

  /** The `count`th connection, counted from 1. */
  arrived(count = 1): Promise<Arrival> {
    return this.until(`connection ${count}`, () => this.arrivals[count - 1]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const { socket } of this.arrivals) socket.cut();
    for (const tcp of this.#open) {
      this.#open.delete(tcp);
      tcp.close();
    }
    await this.#serving;
    await Promise.all(this.#connections);
  }

  async #serve(): Promise<void> {
    for await (const tcp of this.#listener) {
      const connection = this.#take(tcp).finally(() => this.#connections.delete(connection));
      this.#connections.add(connection);
    }
  }

  async #take(tcp: Deno.TcpConn): Promise<void> {
    const upgrade = await readUpgrade(tcp);
    if (upgrade === null) return tcp.close();
    this.upgrades.push(upgrade);
    this.#changes.notify();
    const { status, hangs } = this.#options;
    if (hangs || status !== undefined) {
      this.#open.add(tcp);
      if (status !== undefined) await tcp.write(new TextEncoder().encode(refusing(status)));
      const end = await tcp.read(new Uint8Array(1)).catch(() => null); // we have closed it ourselves
      if (end === null && this.#open.delete(tcp)) tcp.close();
      this.#changes.notify();
      return;
    }
    await tcp.write(new TextEncoder().encode(await accepting(upgrade)));
    const [binary, texts]: [Uint8Array<ArrayBuffer>[], string[]] = [[], []];
    const heard = () => this.#changes.notify();
    const socket = new ServerSocket(tcp, upgrade.rest, {
      binary: (message) => {
        binary.push(message);
        heard();
      },
      text: (message) => {
        texts.push(message);
        heard();
      },
      ended: heard,
    });
    this.arrivals.push({ upgrade, socket, binary, texts });
    heard();
    await socket.ended;
  }
}
