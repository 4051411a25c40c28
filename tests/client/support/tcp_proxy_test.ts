import assert from "node:assert/strict";
import { type Admission, TcpProxy } from "./tcp_proxy.ts";

/** Sends back what it gets, and counts the connections that have ended at its end. */
class EchoServer implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  ended = 0;
  readonly #tasks: Promise<unknown>[] = [this.#accept()];

  get url(): string {
    return `ws://127.0.0.1:${this.#listener.addr.port}/path?query`;
  }

  async #accept(): Promise<void> {
    for await (const connection of this.#listener) {
      const echoed = connection.readable.pipeTo(connection.writable).catch(() => {});
      this.#tasks.push(echoed.then(() => this.ended++));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const task of this.#tasks) await task;
  }
}

async function connect(proxy: TcpProxy): Promise<Deno.TcpConn> {
  const { hostname, port } = new URL(proxy.url);
  return await Deno.connect({ hostname, port: Number(port) });
}

/** Writes so many bytes, ends its half, and gives the length of what came back before the end. */
async function echoed(proxy: TcpProxy, length: number): Promise<number> {
  using connection = await connect(proxy);
  const written = (async () => {
    for (let rest = new Uint8Array(length); rest.length > 0;) rest = rest.subarray(await connection.write(rest));
    await connection.closeWrite();
  })().catch(() => {});
  let received = 0;
  const buffer = new Uint8Array(65_536);
  for (let count: number | null; (count = await connection.read(buffer).catch(() => null)) !== null;) received += count;
  await written;
  return received;
}

Deno.test("TcpProxy passes everything, each half's end by itself, and keeps the URL's path", async () => {
  await using server = new EchoServer();
  await using proxy = new TcpProxy(server.url);
  assert.equal(new URL(proxy.url).pathname + new URL(proxy.url).search, "/path?query");
  assert.equal(await echoed(proxy, 1_000_000), 1_000_000);
});

Deno.test("TcpProxy cuts and ends a direction at the byte, and lets slow bytes pass whole", async () => {
  for (
    const [fault, length] of [
      [{ kind: "cut" }, 70_001],
      [{ kind: "halfClose", ms: 5 }, 70_001],
      [{ kind: "halfOpen", ms: 5 }, 70_001],
      [{ kind: "stall", ms: 5 }, 200_000],
      [{ kind: "trickle", bytes: 100 }, 200_000],
    ] as const
  ) {
    await using server = new EchoServer();
    await using proxy = new TcpProxy(server.url, {
      admit: () => [{ direction: "toClient", afterBytes: 70_001, fault }],
    });
    assert.equal(await echoed(proxy, 200_000), length, fault.kind);
  }
});

Deno.test("TcpProxy keeps the server's end of a connection that is half open", async () => {
  await using server = new EchoServer();
  await using proxy = new TcpProxy(server.url, {
    admit: () => [{ direction: "toClient", afterBytes: 10, fault: { kind: "halfOpen", ms: 50 } }],
  });
  using connection = await connect(proxy);
  await connection.write(new Uint8Array(100));
  const buffer = new Uint8Array(100);
  while (await connection.read(buffer).catch(() => null) !== null);
  await new Promise((resolve) => setTimeout(resolve, 1)); // an end that is passed on would have arrived
  assert.equal(server.ended, 0);
  while (server.ended === 0) await new Promise((resolve) => setTimeout(resolve, 2));
});

Deno.test("TcpProxy refuses connections, or leaves them without a word", async () => {
  await using server = new EchoServer();
  const admissions: Admission[] = ["refuse", { silentMs: 1 }, []];
  await using proxy = new TcpProxy(server.url, { admit: (index) => admissions[index]! });
  assert.deepEqual([await echoed(proxy, 10), await echoed(proxy, 10), await echoed(proxy, 10)], [0, 0, 10]);
  assert.equal(proxy.accepted, 3);
});
