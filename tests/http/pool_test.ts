import assert from "node:assert/strict";
import { Pool } from "../../lib/http/pool.ts";
import { Socket } from "../../lib/http/socket.ts";
import { ManualClock } from "../support/manual_clock.ts";

/** Pairs of connected sockets: ours, and the peer's end of it. */
class Pairs implements Disposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #peers: Deno.Conn[] = [];

  async open(): Promise<[Socket, Deno.Conn]> {
    const { port } = this.#listener.addr as Deno.NetAddr;
    const [conn, peer] = await Promise.all([Deno.connect({ port }), this.#listener.accept()]);
    this.#peers.push(peer);
    return [new Socket(conn), peer];
  }

  [Symbol.dispose](): void {
    this.#listener.close();
    for (const peer of this.#peers) peer.close();
  }
}

/** Resolves when the other end has closed. */
async function closed(peer: Deno.Conn): Promise<void> {
  assert.equal(await peer.read(new Uint8Array(1)), null);
}

Deno.test("Pool gives back what leads to the same place, the last one first, and each once", async () => {
  using pairs = new Pairs();
  const clock = new ManualClock();
  using pool = new Pool(clock);
  const [[first], [second], [other]] = [await pairs.open(), await pairs.open(), await pairs.open()];
  pool.keep("here", first);
  pool.keep("here", second);
  pool.keep("there", other);
  assert.equal(pool.take("here")?.socket, second);
  clock.advance(7);
  const { socket, idleMs } = pool.take("here")!;
  assert.equal(socket, first);
  assert.equal(idleMs, 7);
  assert.equal(pool.take("here"), undefined);
  second[Symbol.dispose]();
  first[Symbol.dispose]();
});

Deno.test("Pool ends a connection whose time is over, and none that was taken before", async () => {
  using pairs = new Pairs();
  const clock = new ManualClock();
  using pool = new Pool(clock);
  const [[idle, peer], [taken]] = [await pairs.open(), await pairs.open()];
  pool.keep("here", idle);
  pool.keep("there", taken);
  assert.equal(pool.take("there")?.socket, taken);
  clock.advance(89_999);
  assert.equal(idle.closed, false);
  clock.advance(1);
  await closed(peer);
  assert.equal(taken.closed, false);
  taken[Symbol.dispose]();
});

Deno.test("Pool ends a connection that the peer ends, or on which it says something unasked", async () => {
  using pairs = new Pairs();
  const clock = new ManualClock();
  using pool = new Pool(clock);
  const [[ended, endedPeer], [spoken, spokenPeer]] = [await pairs.open(), await pairs.open()];
  pool.keep("here", ended);
  pool.keep("here", spoken);
  await endedPeer.closeWrite();
  await spokenPeer.write(new Uint8Array(1));
  await Promise.all([closed(endedPeer), closed(spokenPeer)]);
  assert.equal(pool.take("here"), undefined);
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("Pool keeps sixteen connections, and ends the oldest for a seventeenth", async () => {
  using pairs = new Pairs();
  using pool = new Pool(new ManualClock());
  const [oldest, peer] = await pairs.open();
  pool.keep("here", oldest);
  const others = [];
  for (let count = 0; count < 16; count++) others.push((await pairs.open())[0]);
  for (const socket of others) pool.keep("here", socket);
  await closed(peer);
  assert.ok(others.every((socket) => !socket.closed));
});

Deno.test("Pool that has ended keeps nothing", async () => {
  using pairs = new Pairs();
  const clock = new ManualClock();
  const pool = new Pool(clock);
  const [[kept, keptPeer], [late, latePeer]] = [await pairs.open(), await pairs.open()];
  pool.keep("here", kept);
  pool[Symbol.dispose]();
  pool.keep("here", late);
  await Promise.all([closed(keptPeer), closed(latePeer)]);
  assert.equal(clock.pendingTimers, 0);
});
