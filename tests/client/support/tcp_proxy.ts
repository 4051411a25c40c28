/** A TCP proxy that does to connections what networks do to them, at given bytes and on demand. */

export type Direction = "toServer" | "toClient";

/** What goes wrong. Times are milliseconds. */
export type Fault =
  /** Both ends are closed; what is on its way is lost, often in the middle of a message. */
  | { readonly kind: "cut" }
  /** Nothing passes in this direction for a while. */
  | { readonly kind: "stall"; readonly ms: number }
  /** The stream ends in this direction alone; a while later all of it. */
  | { readonly kind: "halfClose"; readonly ms: number }
  /** The client's end is closed, and the server is not told for a while. */
  | { readonly kind: "halfOpen"; readonly ms: number }
  /** So many bytes pass one at a time. */
  | { readonly kind: "trickle"; readonly bytes: number };

/** A fault of one connection. */
export interface Fate {
  readonly direction: Direction;
  /** It happens when so many bytes have passed in this direction since its last fault. */
  readonly afterBytes: number;
  readonly fault: Fault;
}

/** What becomes of a connection: its faults in their order, or no connection at all. */
export type Admission = readonly Fate[] | "refuse" | { readonly silentMs: number };

export interface TcpProxyOptions {
  /** @param index How many connections came before. Default: they pass whole. */
  readonly admit?: (index: number) => Admission;
}

const READ_BYTES = 64 * 1024;

export class TcpProxy implements AsyncDisposable {
  /** The server's URL with our host and port. */
  readonly url: string;
  readonly #listener: Deno.TcpListener;
  readonly #target: { readonly hostname: string; readonly port: number };
  readonly #admit: (index: number) => Admission;
  readonly #links = new Set<Link>();
  readonly #tasks = new Set<Promise<void>>();
  /** Ends pauses early. */
  readonly #over = new AbortController();
  #accepted = 0;
  #refusing = false;

  /** @param target The URL of the server. */
  constructor(target: string, { admit = () => [] }: TcpProxyOptions = {}) {
    const url = new URL(target);
    this.#target = { hostname: url.hostname, port: Number(url.port) };
    this.#admit = admit;
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    url.host = `127.0.0.1:${this.#listener.addr.port}`;
    this.url = url.href.replace(/\/$/, "");
    this.#follow(this.#accept());
  }

  /** How many connections came so far, those that were refused included. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#links.size;
  }

  /** Whether every new connection is closed at once, whatever `admit` says. */
  set refusing(refusing: boolean) {
    this.#refusing = refusing;
  }

  /** Cuts every connection that is open. */
  cut(): void {
    for (const link of this.#links) link.close();
  }

  /** Closes the clients' ends; the server keeps its own for so many milliseconds. */
  cutForClients(ms: number): void {
    for (const link of this.#links) this.#follow(link.halfOpen(ms));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    this.#listener.close();
    this.cut();
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
  }

  #follow(task: Promise<void>): void {
    const done = task.finally(() => this.#tasks.delete(done));
    this.#tasks.add(done);
  }

  async #accept(): Promise<void> {
    for await (const client of this.#listener) this.#follow(this.#serve(client));
  }

  async #serve(client: Deno.TcpConn): Promise<void> {
    const admission = this.#admit(this.#accepted++);
    if (this.#refusing || admission === "refuse") return client.close();
    if ("silentMs" in admission) {
      await pause(admission.silentMs, this.#over.signal);
      return client.close();
    }
    let server: Deno.TcpConn;
    try {
      server = await Deno.connect(this.#target);
    } catch {
      return client.close(); // nobody listens there any more: the client is told as the network would
    }
    if (this.#over.signal.aborted) {
      client.close();
      return server.close();
    }
    const link = new Link(client, server, this.#over.signal);
    this.#links.add(link);
    const of = (direction: Direction) => admission.filter((fate) => fate.direction === direction);
    await Promise.all([link.pump("toServer", of("toServer")), link.pump("toClient", of("toClient"))]);
    await link.held;
    link.close();
    this.#links.delete(link);
  }
}

/** One connection through the proxy. */
class Link {
  readonly #client: Deno.TcpConn;
  readonly #server: Deno.TcpConn;
  readonly #over: AbortSignal;
  #clientOpen = true;
  #serverOpen = true;

  constructor(client: Deno.TcpConn, server: Deno.TcpConn, over: AbortSignal) {
    [this.#client, this.#server, this.#over] = [client, server, over];
    for (const end of [client, server]) end.setNoDelay();
  }

  close(): void {
    this.#closeClient();
    if (this.#serverOpen) this.#server.close();
    this.#serverOpen = false;
  }

  #closeClient(): void {
    if (this.#clientOpen) this.#client.close();
    this.#clientOpen = false;
  }

  /** Resolves when the server's end need not be kept. */
  held: Promise<void> = Promise.resolve();

  async halfOpen(ms: number): Promise<void> {
    this.#closeClient();
    this.held = pause(ms, this.#over);
    await this.held;
    this.close();
  }

  /** Passes one direction on until it ends or a fault ends it. */
  async pump(direction: Direction, fates: Fate[]): Promise<void> {
    const [from, to] = direction === "toServer" ? [this.#client, this.#server] : [this.#server, this.#client];
    const buffer = new Uint8Array(READ_BYTES);
    const queue = [...fates];
    let left = queue[0]?.afterBytes ?? Infinity;
    try {
      for (let count: number | null; (count = await from.read(buffer)) !== null;) {
        let bytes = buffer.subarray(0, count);
        while (bytes.length > left) {
          await writeAll(to, bytes.subarray(0, left));
          bytes = bytes.subarray(left);
          const { fault } = queue.shift()!;
          if (fault.kind === "trickle") bytes = await trickle(to, bytes, fault.bytes, this.#over);
          else if (fault.kind === "stall") await pause(fault.ms, this.#over);
          else return await this.#end(fault, to);
          left = queue[0]?.afterBytes ?? Infinity;
        }
        left -= bytes.length;
        await writeAll(to, bytes);
      }
      await to.closeWrite();
    } catch (error) {
      if (!isConnectionEnd(error)) throw error;
      // Unless we have closed the client's end ourselves, and keep the server's for a while.
      if (this.#clientOpen) this.close();
    }
  }

  async #end(fault: Exclude<Fault, { kind: "stall" | "trickle" }>, to: Deno.TcpConn): Promise<void> {
    if (fault.kind === "halfClose") {
      await to.closeWrite();
      await pause(fault.ms, this.#over);
    }
    if (fault.kind === "halfOpen") return await this.halfOpen(fault.ms);
    this.close();
  }
}

async function writeAll(to: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await to.write(rest));
}

/** Returns the bytes that were not sent. */
async function trickle(
  to: Deno.TcpConn,
  bytes: Uint8Array<ArrayBuffer>,
  count: number,
  over: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const slow = bytes.subarray(0, count);
  for (let at = 0; at < slow.length; at++) {
    await writeAll(to, slow.subarray(at, at + 1));
    if (at % 16 === 0) await pause(0, over);
  }
  return bytes.subarray(slow.length);
}

function isConnectionEnd(error: unknown): boolean {
  const { BadResource, BrokenPipe, ConnectionAborted, ConnectionReset, Interrupted, NotConnected } = Deno.errors;
  return [BadResource, BrokenPipe, ConnectionAborted, ConnectionReset, Interrupted, NotConnected]
    .some((kind) => error instanceof kind);
}

/** Resolves after so many milliseconds, or when all is over. */
function pause(ms: number, over: AbortSignal): Promise<void> {
  if (over.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      over.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    over.addEventListener("abort", done);
  });
}
