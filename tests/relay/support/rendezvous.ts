/** A rendezvous on loopback, as good or as bad as a test wants it. */
import { Changes } from "./changes.ts";
import { type Direction, type FaultRates, FaultyLine } from "./faults.ts";
import { type FrameView, resetFrame, viewFrame } from "./frame_view.ts";
import { Line } from "./line.ts";
import { isConnectionEnd, ServerSocket } from "./server_socket.ts";
import { accepting, readUpgrade, refusing, type UpgradeRequest } from "./upgrade.ts";

export type Role = "executor" | "harness";

/** What becomes of an upgrade instead of a WebSocket. */
export type Refusal =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** It is never answered. */
  | "hang"
  /** The connection is closed. */
  | "drop";

export interface RendezvousOptions {
  /** Of all decisions of the faults. */
  readonly seed?: number;
  readonly faults?: FaultRates;
  /** False: nothing is kept of the frames, for measurements. */
  readonly recording?: boolean;
  /**
   * What is done for a peer that does not take its frames: `wait` reads no more from who sends them, `close` ends both
   * sides, once so many bytes wait. 4 MiB, and `wait`, unless said otherwise.
   */
  readonly backlogBytes?: number;
  readonly atBacklog?: "wait" | "close";
}

/** One frame that came. */
export interface Relayed {
  readonly direction: Direction;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Null: it is no relay frame, or has no stream. */
  readonly view: FrameView | null;
  readonly peer: Peer;
}

/** One WebSocket, and who it is. */
export interface Peer {
  readonly role: Role;
  readonly registrationId: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly socket: ServerSocket;
  /** Text messages that came. */
  readonly texts: string[];
}

/** A stream, from the first frame of its harness on. */
interface Route {
  readonly harness: Peer;
  readonly registrationId: string;
  readonly lines: Readonly<Record<Direction, Line>>;
  readonly faults: Readonly<Record<Direction, FaultyLine>>;
}

const BACKLOG_BYTES = 4 * 1024 * 1024;
/** What the query of our URLs carries, as the capability that a real one is. */
const SECRET = "rendezvous-capability-5d1f";

export class TestRendezvous implements AsyncDisposable {
  /** Every upgrade, also those that were refused. */
  readonly upgrades: { readonly role: Role; readonly target: string; readonly headers: Record<string, string> }[] = [];
  /** Every WebSocket so far, those that have ended included. */
  readonly peers: Peer[] = [];
  /** Every frame that came, before any fault; empty without recording. */
  readonly relayed: Relayed[] = [];
  /** Called with each frame before any fault; false: the frame goes no further. */
  intercept: ((frame: Relayed) => boolean | void) | null = null;
  /** False: the other side is not told when one has gone. */
  resetsForTheGone = true;
  /** What a new route suffers. Routes keep what they began with. */
  faults: FaultRates;

  readonly #changes = new Changes();
  readonly #options: RendezvousOptions;
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #refusals: Record<Role, Refusal[]> = { executor: [], harness: [] };
  /** Connections whose upgrade is not finished. */
  readonly #early = new Set<Deno.TcpConn>();
  readonly #tasks = new Set<Promise<void>>();
  /** Registration → the newest socket of its executor. */
  readonly #executors = new Map<string, Peer>();
  readonly #routes = new Map<string, Route>();
  #routeCount = 0;

  constructor(options: RendezvousOptions = {}) {
    this.#options = options;
    this.faults = options.faults ?? {};
    this.#follow(this.#accept());
  }

  /** Where this role connects; the query is a secret. */
  url(role: Role, registrationId: string): string {
    const { port } = this.#listener.addr as Deno.NetAddr;
    return `ws://127.0.0.1:${port}/${role}/${encodeURIComponent(registrationId)}?capability=${SECRET}`;
  }

  /** What must never be seen outside of the rendezvous and its peers. */
  get secret(): string {
    return SECRET;
  }

  /** WebSockets that are open now. */
  open(role: Role): Peer[] {
    return this.peers.filter((peer) => peer.role === role && peer.socket.open);
  }

  /** The `count`th WebSocket of this role, counted from 1, as soon as it is there. */
  connected(role: Role, count = 1): Promise<Peer> {
    return this.until(`connection ${count} of an ${role}`, () => {
      return this.peers.filter((peer) => peer.role === role)[count - 1];
    });
  }

  /** The first value that is not undefined or false; looked for after each frame and each change of a connection. */
  until<T>(what: string, look: () => T | undefined | false, patienceMs?: number): Promise<T> {
    return this.#changes.until(what, look, patienceMs);
  }

  /** Recorded frames of a stream, or of all. */
  framesOf(direction: Direction, streamId?: string): (Relayed & { view: FrameView })[] {
    return this.relayed.filter((frame): frame is Relayed & { view: FrameView } => {
      return frame.direction === direction && frame.view !== null &&
        (streamId === undefined || frame.view.streamId === streamId);
    });
  }

  /** Ids of the streams that have a route now, in the order in which they came. */
  get streams(): string[] {
    return [...this.#routes.keys()];
  }

  /** The next upgrades of this role are refused so. */
  refuse(role: Role, ...refusals: Refusal[]): void {
    this.#refusals[role].push(...refusals);
  }

  /** Takes back what `refuse` has left. */
  refuseNoMore(role: Role): void {
    this.#refusals[role].length = 0;
  }

  /** Ends the WebSockets of a role, or all, without a close frame. */
  cut(role?: Role): void {
    for (const peer of this.peers) if (role === undefined || peer.role === role) peer.socket.cut();
  }

  /** Sends a frame that no harness has sent, or sends one again, to the executor. */
  inject(registrationId: string, bytes: Uint8Array<ArrayBuffer>): void {
    const executor = this.#executors.get(registrationId);
    if (executor === undefined) throw new Error("there is no executor to send to");
    executor.socket.send(bytes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const tcp of this.#early) tcp.close();
    this.cut();
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
  }

  #follow(task: Promise<void>): void {
    const done = task.finally(() => this.#tasks.delete(done));
    this.#tasks.add(done);
  }

  async #accept(): Promise<void> {
    for await (const tcp of this.#listener) this.#follow(this.#admit(tcp));
  }

  async #admit(tcp: Deno.TcpConn): Promise<void> {
    this.#early.add(tcp);
    try {
      const request = await readUpgrade(tcp);
      if (request === null || !await this.#answer(tcp, request)) tcp.close();
    } catch (error) {
      if (!isConnectionEnd(error)) throw error;
    } finally {
      this.#early.delete(tcp);
    }
  }

  /** @returns Whether the connection goes on. */
  async #answer(tcp: Deno.TcpConn, request: UpgradeRequest): Promise<boolean> {
    const [, role = "", registration = ""] = new URL(request.target, "ws://x").pathname.split("/");
    if (role !== "executor" && role !== "harness") return await say(tcp, refusing(404));
    this.upgrades.push({ role, target: request.target, headers: { ...request.headers } });
    const refusal = this.#refusals[role].shift();
    this.#changes.notify();
    if (refusal === "drop") return false;
    if (refusal === "hang") {
      while (await tcp.read(new Uint8Array(1024)) !== null);
      return false;
    }
    if (refusal !== undefined) return await say(tcp, refusing(refusal.status, refusal.headers, refusal.body));
    await say(tcp, await accepting(request));
    this.#early.delete(tcp);
    const peer = this.#join(role, decodeURIComponent(registration), request, tcp);
    this.#changes.notify();
    await peer.socket.ended;
    return true;
  }

  #join(role: Role, registrationId: string, request: UpgradeRequest, tcp: Deno.TcpConn): Peer {
    const { target, headers, rest } = request;
    const socket = new ServerSocket(tcp, rest, {
      binary: (bytes) => this.#take(peer, bytes),
      text: (text) => {
        peer.texts.push(text);
        this.#changes.notify();
      },
      ended: () => this.#leave(peer),
    });
    const peer: Peer = { role, registrationId, target, headers, socket, texts: [] };
    this.peers.push(peer);
    if (role === "executor") this.#executors.set(registrationId, peer);
    return peer;
  }

  #take(peer: Peer, bytes: Uint8Array<ArrayBuffer>): void | Promise<void> {
    const view = viewFrame(bytes);
    const direction = peer.role === "harness" ? "toExecutor" : "toHarness";
    const frame = { direction, bytes, view, peer } as const;
    if (this.#options.recording ?? true) {
      this.relayed.push(frame);
      this.#changes.notify();
    }
    if (this.intercept?.(frame) === false || view === null) return;
    const route = this.#routes.get(view.streamId) ?? (peer.role === "harness" ? this.#learn(peer, view) : undefined);
    if (route === undefined) return;
    if (direction === "toExecutor" && !this.#executors.has(route.registrationId)) {
      this.#routes.delete(view.streamId);
      if (this.resetsForTheGone) peer.socket.send(resetFrame(view.streamId));
      return;
    }
    const others = () => this.streams.filter((id) => id !== view.streamId);
    route.lines[direction].take(route.faults[direction].pass(bytes, view, others));
    return this.#waitFor(peer, direction === "toHarness" ? route.harness : this.#executors.get(route.registrationId));
  }

  #learn(harness: Peer, { streamId }: FrameView): Route {
    const { registrationId } = harness;
    const [seed, number] = [this.#options.seed ?? 0, this.#routeCount++];
    const route: Route = {
      harness,
      registrationId,
      lines: {
        toExecutor: new Line((bytes) => this.#executors.get(registrationId)?.socket.send(bytes)),
        // A swapped frame belongs to another harness than the one that its stream came from.
        toHarness: new Line((bytes) => {
          const { streamId: now = "" } = viewFrame(bytes) ?? {};
          (this.#routes.get(now) ?? route).harness.socket.send(bytes);
        }),
      },
      faults: {
        toExecutor: new FaultyLine(this.faults, seed, number, "toExecutor"),
        toHarness: new FaultyLine(this.faults, seed, number, "toHarness"),
      },
    };
    this.#routes.set(streamId, route);
    return route;
  }

  /** Does what is to be done about a peer that is behind. */
  #waitFor(from: Peer, to: Peer | undefined): void | Promise<void> {
    const { backlogBytes = BACKLOG_BYTES, atBacklog = "wait" } = this.#options;
    if (to === undefined || !to.socket.open || to.socket.backlogBytes <= backlogBytes) return;
    if (atBacklog === "wait") return to.socket.drainedTo(backlogBytes / 2);
    to.socket.cut();
    from.socket.cut();
  }

  #leave(peer: Peer): void {
    for (const [streamId, route] of this.#routes) {
      const executor = this.#executors.get(route.registrationId);
      if (route.harness !== peer && executor !== peer) continue;
      for (const line of Object.values(route.lines)) line[Symbol.dispose]();
      this.#routes.delete(streamId);
      if (!this.resetsForTheGone) continue;
      (peer === executor ? route.harness : executor)?.socket.send(resetFrame(streamId));
    }
    if (this.#executors.get(peer.registrationId) === peer) this.#executors.delete(peer.registrationId);
    this.#changes.notify();
  }
}

async function say(tcp: Deno.TcpConn, text: string): Promise<false> {
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await tcp.write(rest));
  return false;
}
