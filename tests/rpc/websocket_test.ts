import assert from "node:assert/strict";
import { silentLog } from "../../lib/log.ts";
import { type Connection, HIGH_WATER_BYTES } from "../../lib/rpc/connection.ts";
import { CLOSE_PATIENCE_MS, MAX_MESSAGE_BYTES, websocketConnection } from "../../lib/rpc/websocket.ts";
import { listen } from "../../lib/server/listener.ts";
import { frameHeader, OPCODE, RawConnection, type RawTarget, rawTarget } from "../support/raw_http.ts";
import { Recorder } from "../support/recorder.ts";

const decoder = new TextDecoder();

interface Accepted {
  readonly connection: Connection;
  readonly received: Recorder;
}

/** A listener on loopback that hands over what it accepts, one by one. */
class Server implements AsyncDisposable {
  readonly #accepted: Accepted[] = [];
  readonly #waiting: ((accepted: Accepted) => void)[] = [];
  readonly #listener = listen({
    address: { hostname: "127.0.0.1", port: 0 },
    authorize: null,
    log: silentLog,
    onConnection: (connection) => {
      const accepted = { connection, received: new Recorder(connection) };
      const waiting = this.#waiting.shift();
      if (waiting === undefined) this.#accepted.push(accepted);
      else waiting(accepted);
    },
  });
  readonly url = this.#listener.url;
  readonly target: RawTarget = rawTarget(this.url);

  accept(): Promise<Accepted> {
    const accepted = this.#accepted.shift();
    if (accepted !== undefined) return Promise.resolve(accepted);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener[Symbol.asyncDispose]();
  }
}

Deno.test("websocketConnection says what the reference calls it", async () => {
  await using server = new Server();
  using peer = await RawConnection.websocket(server.target);
  const { connection, received } = await server.accept();
  const label = `exec-server websocket 127.0.0.1:${peer.localAddress.port}`;
  assert.equal(connection.label, label);
  assert.equal(connection.malformedPrefix, `failed to parse websocket JSON-RPC message from ${label}: `);
  peer[Symbol.dispose]();
  await received.end();
});

Deno.test("websocketConnection hands on text, bytes and fragments as they are", async () => {
  await using server = new Server();
  using peer = await RawConnection.websocket(server.target);
  const { received } = await server.accept();
  await peer.sendFrame(OPCODE.text, "héllo");
  await peer.sendFrame(OPCODE.text, "");
  await peer.sendFrame(OPCODE.binary, new Uint8Array([0xff, 0]));
  await peer.sendFrame(OPCODE.text, "in two ", { fin: false });
  await peer.sendFrame(OPCODE.ping, "between");
  await peer.sendFrame(OPCODE.continuation, "pieces");
  assert.deepEqual(await received.received(4), ["héllo", "", new Uint8Array([0xff, 0]), "in two pieces"]);
  assert.deepEqual(await peer.readFrame(), { opcode: OPCODE.pong, payload: new TextEncoder().encode("between") });
  peer[Symbol.dispose]();
  await received.end();
});

Deno.test("websocketConnection sends every message as one text frame", async () => {
  await using server = new Server();
  using peer = await RawConnection.websocket(server.target);
  const { connection, received } = await server.accept();
  const long = "é".repeat(200_000);
  for (const message of ["a", "", long]) connection.send(message);
  for (const message of ["a", "", long]) {
    const frame = await peer.readFrame();
    assert.deepEqual([frame?.opcode, decoder.decode(frame?.payload)], [OPCODE.text, message]);
  }
  peer[Symbol.dispose]();
  await received.end();
});

for (
  const [name, act, reason] of [
    ["a close frame", (peer) => peer.sendFrame(OPCODE.close, new Uint8Array([0x03, 0xe8])), /code 1000/],
    ["the end of the stream", (peer) => Promise.resolve(peer[Symbol.dispose]()), /EOF/],
    ["text that is not UTF-8", (peer) => peer.sendFrame(OPCODE.text, new Uint8Array([0xff])), /UTF-8/],
    ["a reserved opcode", (peer) => peer.sendFrame(3, ""), /value/],
    ["a frame of more than 64 MiB", (peer) => peer.write(frameHeader(OPCODE.text, 67_108_865)), /too large/],
  ] as [string, (peer: RawConnection) => Promise<void>, RegExp][]
) {
  Deno.test(`websocketConnection ends once at ${name}`, async () => {
    await using server = new Server();
    using peer = await RawConnection.websocket(server.target);
    const { connection, received } = await server.accept();
    await act(peer);
    assert.match(await received.end(), reason);
    connection.send("dropped");
    connection.close();
    assert.deepEqual([received.ends.length, received.messages.length], [1, 0]);
  });
}

Deno.test("websocketConnection has ended when close returns, and the peer gets what was sent before", async () => {
  await using server = new Server();
  using peer = await RawConnection.websocket(server.target);
  const { connection, received } = await server.accept();
  connection.send("farewell");
  connection.close(1002, "protocol violation");
  connection.close();
  assert.deepEqual(received.ends, [{ reason: "protocol violation" }]);
  assert.equal(decoder.decode((await peer.readFrame())?.payload), "farewell");
  const close = await peer.readFrame();
  assert.deepEqual([close?.opcode, [...close!.payload.subarray(0, 2)]], [OPCODE.close, [0x03, 0xea]]);
  await peer.sendFrame(OPCODE.close, new Uint8Array([0x03, 0xea]));
  assert.equal(await peer.readFrame(), null);
});

Deno.test("websocketConnection delivers nothing after it was closed", async () => {
  await using server = new Server();
  using peer = await RawConnection.websocket(server.target);
  const { connection, received } = await server.accept();
  received.onMessage = () => connection.close();
  await peer.write(new Uint8Array([...frameHeader(OPCODE.text, 1), 0x61, ...frameHeader(OPCODE.text, 1), 0x62]));
  await received.end();
  await peer.readToEnd();
  assert.deepEqual([received.messages, received.ends.length], [["a"], 1]);
});

Deno.test("websocketConnection drops a peer that does not answer its close frame", async () => {
  await using server = new Server();
  using peer = await RawConnection.websocket(server.target);
  const { connection } = await server.accept();
  const begun = performance.now();
  connection.close();
  assert.equal((await peer.readFrame())?.opcode, OPCODE.close);
  // A platform that lets its sockets be dropped no more would leave this waiting for ever.
  assert.equal(await peer.readFrame(), null);
  assert.ok(performance.now() - begun >= CLOSE_PATIENCE_MS * 0.9);
});

Deno.test("websocketConnection is gone soon after it was dropped, even if the runtime never tells of it", async () => {
  // Of no socket that there is.
  const socket = Object.assign(new FakeSocket(), { [Symbol("[[rid]]")]: 2 ** 31 - 1 });
  const connection = websocketConnection(socket as unknown as WebSocket, "peer");
  connection.close();
  await connection.gone;
});

Deno.test("websocketConnection is congested while the peer does not read, and drains when it does", async () => {
  await using server = new Server();
  using peer = await RawConnection.websocket(server.target);
  const { connection, received } = await server.accept();
  await connection.drained();
  // More than a loopback connection holds in the kernel.
  const message = "x".repeat(1024 * 1024);
  const count = 32;
  for (let i = 0; i < count; i++) connection.send(message);
  assert.equal(connection.congested, true);
  let drained = 0;
  const waits = [1, 2, 3].map(() => connection.drained().then(() => drained++));
  await peer.sendFrame(OPCODE.text, "still here");
  await received.received(1);
  assert.equal(drained, 0);
  for (let i = 0; i < count; i++) assert.equal((await peer.readFrame())?.payload.length, message.length);
  await Promise.all(waits);
  assert.equal(connection.congested, false);
  peer[Symbol.dispose]();
  await received.end();
});

/** As much of a WebSocket as a connection needs, with a send buffer that the test fills and empties. */
class FakeSocket {
  readonly readyState = WebSocket.OPEN;
  bufferedAmount = 0;
  onmessage: (event: { data: string }) => void = () => {};
  close(): void {}
}

Deno.test("websocketConnection looks at once whether it has drained when its peer speaks", async () => {
  const socket = new FakeSocket();
  const connection = websocketConnection(socket as unknown as WebSocket, "peer");
  const heard: string[] = [];
  connection.start({ message: (message) => void heard.push(String(message)), ended: () => {} });
  socket.bufferedAmount = HIGH_WATER_BYTES + 1;
  let drained = false;
  void connection.drained().then(() => drained = true);
  socket.onmessage({ data: "first" });
  await Promise.resolve();
  assert.equal(drained, false);
  socket.bufferedAmount = 0;
  socket.onmessage({ data: "second" });
  await Promise.resolve();
  assert.deepEqual([drained, heard], [true, ["first", "second"]]);
});

Deno.test("websocketConnection lets a waiting producer go when it ends", async () => {
  await using server = new Server();
  using peer = await RawConnection.websocket(server.target);
  const { connection, received } = await server.accept();
  for (let i = 0; i < 32; i++) connection.send("x".repeat(HIGH_WATER_BYTES));
  const drained = connection.drained();
  peer[Symbol.dispose]();
  await received.end();
  await drained;
  assert.equal(connection.congested, false);
});

Deno.test("websocketConnection takes a message of 64 MiB in fragments and ends at one byte more", async () => {
  await using server = new Server();
  using peer = await RawConnection.websocket(server.target);
  const { received } = await server.accept();
  const half = new Uint8Array(MAX_MESSAGE_BYTES / 2).fill(0x61);
  const sendTwoHalves = async (plus: string) => {
    await peer.sendFrame(OPCODE.text, half, { fin: false });
    await peer.sendFrame(OPCODE.continuation, half, { fin: false });
    await peer.sendFrame(OPCODE.continuation, plus);
  };
  await sendTwoHalves("");
  assert.equal((await received.received(1))[0]?.length, MAX_MESSAGE_BYTES);
  await sendTwoHalves("b");
  assert.equal(await received.end(), "message too big");
  assert.equal(received.messages.length, 1);
  const close = await peer.readFrame();
  assert.deepEqual([...close!.payload.subarray(0, 2)], [0x03, 0xf1]);
});

Deno.test("websocketConnection serves the client's end as well", async () => {
  await using server = new Server();
  const socket = new WebSocket(server.url);
  const connection = websocketConnection(socket, "server");
  const received = new Recorder(connection);
  const accepted = await server.accept();
  accepted.connection.send("hello");
  assert.deepEqual(await received.received(1), ["hello"]);
  connection.send("hi");
  assert.deepEqual(await accepted.received.received(1), ["hi"]);
  // A code that the platform's client does not let through.
  connection.close(1002, "protocol violation");
  assert.deepEqual(received.ends, [{ reason: "protocol violation" }]);
  assert.match(await accepted.received.end(), /code 1000/);
  await connection.gone;
  assert.equal(socket.readyState, WebSocket.CLOSED);
});

Deno.test("websocketConnection tells the end to one who starts after it", async () => {
  await using server = new Server();
  const socket = new WebSocket(server.url);
  const connection = websocketConnection(socket, "server");
  const accepted = await server.accept();
  accepted.connection.send("early");
  const closed = new Promise<void>((resolve) => socket.addEventListener("close", () => resolve(), { once: true }));
  accepted.connection.close(1001, "going");
  await closed;
  const received = new Recorder(connection);
  assert.match(await received.end(), /code 1001/);
  assert.deepEqual([received.messages, received.ends.length], [["early"], 1]);
});
