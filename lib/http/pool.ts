import type { Clock, Timer } from "../clock.ts";
import type { Socket } from "./socket.ts";

/** How long a connection is kept that nobody uses. Source: hyper-util 0.1, `pool_idle_timeout`. */
const IDLE_MS = 90_000;
/** Most connections that are kept; the oldest goes first. Each takes a descriptor and 16 KiB or so. */
const MAX_IDLE = 16;

/** Connections that wait for their next request, by where they lead to. Leaving the scope ends all. */
export class Pool implements Disposable {
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #idle = new Map<Socket, { readonly route: string; readonly since: number; readonly expiry: Timer }>();
  #ended = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Keeps a connection that nobody uses, until the peer ends it, says something unasked, or the time is over. */
  keep(route: string, socket: Socket): void {
    if (this.#ended) return socket[Symbol.dispose]();
    const expiry = this.#clock.after(IDLE_MS, () => this.#drop(socket));
    this.#idle.set(socket, { route, since: this.#clock.now(), expiry });
    socket.rest().then(() => this.#drop(socket), () => this.#drop(socket));
    const [oldest] = this.#idle.keys();
    if (this.#idle.size > MAX_IDLE) this.#drop(oldest!);
  }

  /**
   * The connection that was used last, if one leads there, and for how many milliseconds nobody has used it; it is the
   * caller's from then on.
   */
  take(route: string): { readonly socket: Socket; readonly idleMs: number } | undefined {
    for (const [socket, idle] of [...this.#idle].reverse()) {
      if (idle.route !== route) continue;
      idle.expiry.cancel();
      this.#idle.delete(socket);
      return { socket, idleMs: this.#clock.now() - idle.since };
    }
    return undefined;
  }

  [Symbol.dispose](): void {
    this.#ended = true;
    for (const socket of this.#idle.keys()) this.#drop(socket);
  }

  /** Nothing, if somebody has taken it. */
  #drop(socket: Socket): void {
    const idle = this.#idle.get(socket);
    if (idle === undefined) return;
    idle.expiry.cancel();
    this.#idle.delete(socket);
    socket[Symbol.dispose]();
  }
}
