import assert from "node:assert/strict";
import { HIGH_WATER_BYTES } from "../../lib/rpc/connection.ts";
import { bytesToText } from "../../lib/http/bytes.ts";
import { RawPeer, response } from "../http/raw_peer.ts";
import { untilSteady } from "../http/turns.ts";
import { type Delta, HttpConversation } from "./http_conversation.ts";

const OK = response("200 OK", "ok");
const BUSY = "invalidParams: http/request streamResponse requestId `a` is already active";

/** The deltas in short, the bytes of all of them joined. */
function joined(deltas: readonly Delta[]): { body: string; error: string | null } {
  assert.deepEqual(deltas.map(({ seq }) => seq), deltas.map((_, at) => at + 1));
  assert.deepEqual(deltas.map(({ done }) => done), deltas.map((_, at) => at === deltas.length - 1));
  for (const { error } of deltas.slice(0, -1)) assert.equal(error, null);
  assert.ok(deltas.every(({ deltaBase64, done }) => done === (deltaBase64 === "")));
  return { body: deltas.map(({ deltaBase64 }) => atob(deltaBase64)).join(""), error: deltas.at(-1)!.error };
}

/** A peer whose answer stops after the first half of its body until it is told to go on. */
class HalfPeer implements AsyncDisposable {
  readonly #goOn = Promise.withResolvers<void>();
  readonly hungUp = Promise.withResolvers<void>();
  readonly peer = new RawPeer(async (answering) => {
    if (answering.path === "/ok") return await answering.send(OK);
    await answering.send("HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\nhalf");
    const end = answering.hungUp().then(this.hungUp.resolve);
    await Promise.race([this.#goOn.promise, end]);
    await answering.send("half");
    return "close";
  });

  goOn(): void {
    this.#goOn.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.goOn();
    await this.peer[Symbol.asyncDispose]();
  }
}

Deno.test("a streamed response is answered with its head, and followed by its body and an end", async () => {
  await using peer = RawPeer.saying(OK);
  await using conversation = new HttpConversation();
  const answer = await conversation.ask({ url: peer.url, requestId: "a", streamResponse: true });
  assert.deepEqual(answer, { status: 200, headers: [{ name: "content-length", value: "2" }], bodyBase64: "" });
  await conversation.stream("a");
  assert.deepEqual(conversation.sent, [
    "answer",
    { requestId: "a", seq: 1, deltaBase64: btoa("ok"), done: false, error: null },
    { requestId: "a", seq: 2, deltaBase64: "", done: true, error: null },
  ]);
});

Deno.test("a streamed response without a body is followed by its end alone", async () => {
  await using peer = RawPeer.saying("HTTP/1.1 204 None\r\n\r\n");
  await using conversation = new HttpConversation();
  await conversation.ask({ url: peer.url, requestId: 'odd "id"\n\u2028', streamResponse: true });
  assert.deepEqual(joined(await conversation.stream('odd "id"\n\u2028')), { body: "", error: null });
});

Deno.test("pieces of a stream are passed on as they come, while other requests are answered", async () => {
  await using half = new HalfPeer();
  await using conversation = new HttpConversation();
  const firstDelta = conversation.delta();
  await conversation.ask({ url: half.peer.url, requestId: "a", streamResponse: true });
  await firstDelta;
  await conversation.ask({ url: `${half.peer.url}/ok`, requestId: "b", streamResponse: true });
  assert.deepEqual(joined(await conversation.stream("b")), { body: "ok", error: null });
  half.goOn();
  assert.deepEqual(joined(await conversation.stream("a")), { body: "halfhalf", error: null });
});

Deno.test("the name of a stream is taken from its request to its last delta, before all else is looked at", async () => {
  await using half = new HalfPeer();
  await using conversation = new HttpConversation();
  const stream = { url: half.peer.url, requestId: "a", streamResponse: true };
  const asked = conversation.ask(stream);
  assert.equal(await conversation.refusal(stream), BUSY);
  await asked;
  for (const members of [stream, { ...stream, method: "" }, { ...stream, url: "x" }, { ...stream, timeoutMs: 0 }]) {
    assert.equal(await conversation.refusal(members), BUSY);
  }
  const buffered = { url: `${half.peer.url}/ok`, requestId: "a", streamResponse: false };
  assert.equal((await conversation.ask(buffered)).bodyBase64, btoa("ok"));
  half.goOn();
  await conversation.stream("a");
  assert.equal((await conversation.ask({ ...stream, url: `${half.peer.url}/ok` })).status, 200);
});

Deno.test("the name of a stream that did not come about is free again", async () => {
  await using peer = RawPeer.saying(OK);
  await using conversation = new HttpConversation();
  const stream = { url: peer.url, requestId: "a", streamResponse: true };
  await conversation.refusal({ ...stream, url: "x" });
  await conversation.refusal({ ...stream, url: "http://127.0.0.1:1/" });
  await conversation.refusal({ ...stream, timeoutMs: 0 });
  assert.equal((await conversation.ask(stream)).status, 200);
  await conversation.stream("a");
});

Deno.test("a client may use the name of a stream again as soon as it has seen the end", async () => {
  await using peer = RawPeer.saying(OK);
  await using conversation = new HttpConversation();
  for (let time = 1; time <= 5; time++) {
    await conversation.ask({ url: peer.url, requestId: "a", streamResponse: true });
    while ((await conversation.stream("a")).filter(({ done }) => done).length < time) await conversation.delta();
  }
});

Deno.test("trouble within the body of a stream is told in its end", async () => {
  const peers = [
    "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\n",
  ];
  for (const said of peers) {
    await using peer = RawPeer.saying(said, "close");
    await using conversation = new HttpConversation();
    await conversation.ask({ url: peer.url, requestId: "a", streamResponse: true });
    const end = joined(await conversation.stream("a"));
    assert.deepEqual(end, { body: "part", error: "error decoding response body" });
  }
});

Deno.test("the time of a stream runs until its end", async () => {
  await using half = new HalfPeer();
  await using conversation = new HttpConversation();
  const firstDelta = conversation.delta();
  await conversation.ask({ url: half.peer.url, requestId: "a", streamResponse: true, timeoutMs: 1000 });
  await firstDelta;
  conversation.clock.advance(1000);
  const end = joined(await conversation.stream("a"));
  assert.deepEqual(end, { body: "half", error: "error decoding response body" });
  await half.hungUp.promise;
  assert.equal(conversation.clock.pendingTimers, 0);
});

Deno.test("no time is counted any more for a stream that has ended", async () => {
  await using peer = RawPeer.saying(OK);
  await using conversation = new HttpConversation();
  await conversation.ask({ url: peer.url, requestId: "a", streamResponse: true, timeoutMs: 1000 });
  await conversation.stream("a");
  // The connection that was kept has a time of its own.
  assert.equal(conversation.clock.pendingTimers, 1);
});

Deno.test("the end of the connection ends its streams at once, without a word", async () => {
  await using half = new HalfPeer();
  await using conversation = new HttpConversation();
  const firstDelta = conversation.delta();
  await conversation.ask({ url: half.peer.url, requestId: "a", streamResponse: true, timeoutMs: 1000 });
  await firstDelta;
  conversation.end();
  await half.hungUp.promise;
  assert.equal(conversation.sent.length, 2);
  assert.equal(conversation.clock.pendingTimers, 0);
});

Deno.test("a stream whose answer could not be sent any more is ended", async () => {
  const hungUp = Promise.withResolvers<void>();
  await using peer = new RawPeer(async (answering) => {
    await answering.send("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart");
    await answering.hungUp();
    hungUp.resolve();
  });
  await using conversation = new HttpConversation();
  conversation.callBack = false;
  await conversation.ask({ url: peer.url, requestId: "a", streamResponse: true, timeoutMs: 1000 });
  conversation.end();
  await hungUp.promise;
  assert.equal(conversation.clock.pendingTimers, 0);
});

Deno.test("a client that does not read holds up the HTTP peer, and gets everything when it reads again", async () => {
  const block = new Uint8Array(65_536).fill(0x61);
  const total = 1024;
  let written = 0;
  await using peer = new RawPeer(async ({ send, write }) => {
    await send(`HTTP/1.1 200 OK\r\ncontent-length: ${total * block.length}\r\n\r\n`);
    for (; written < total; written++) await write(block);
  });
  await using conversation = new HttpConversation();
  const { promise, resolve: readOn } = Promise.withResolvers<void>();
  conversation.taking = promise;
  await conversation.ask({ url: peer.url, requestId: "a", streamResponse: true });
  const steady = await untilSteady(() => written);
  assert.ok(conversation.near.congested);
  assert.ok(steady < total / 2, `${steady} of ${total} blocks were taken`);
  conversation.taking = Promise.resolve();
  readOn();
  const deltas = await conversation.stream("a");
  assert.ok(joined(deltas).body === bytesToText(block).repeat(total));
  assert.ok(Math.max(...deltas.map(({ deltaBase64 }) => deltaBase64.length)) <= 1024 * 1024 * 4 / 3);
});

Deno.test("many streams to a client that does not read queue no more than one does", async () => {
  const streams = 150;
  const block = new Uint8Array(65_536);
  let written = 0;
  await using peer = new RawPeer(async ({ send, write }) => {
    await send(`HTTP/1.1 200 OK\r\ncontent-length: ${64 * block.length}\r\n\r\n`);
    for (let i = 0; i < 64; i++, written++) await write(block);
  });
  await using conversation = new HttpConversation();
  conversation.taking = new Promise(() => {});
  const { near } = conversation;
  const send = near.send.bind(near);
  let queued = 0;
  near.send = (message) => {
    queued += message.length;
    send(message);
  };
  const ids = Array.from({ length: streams }, (_, at) => String(at));
  await Promise.all(ids.map((requestId) => conversation.ask({ url: peer.url, requestId, streamResponse: true })));
  await untilSteady(() => written);
  assert.ok(near.congested);
  // One delta is with the client.
  const longestDelta = 256 * 1024 * 4 / 3 + 200;
  assert.ok(queued <= HIGH_WATER_BYTES + 2 * longestDelta, `${queued} bytes`);
});

Deno.test("a body that is held is not read, nor its peer; it goes on where it was", async () => {
  const mebibytes = 24;
  let sent = 0;
  await using peer = new RawPeer(async ({ send, write }) => {
    await send(`HTTP/1.1 200 OK\r\ncontent-length: ${mebibytes * 1024 * 1024}\r\n\r\n`);
    for (; sent < mebibytes; sent++) await write(new Uint8Array(1024 * 1024).fill(65 + sent));
  });
  await using conversation = new HttpConversation();
  const firstDelta = conversation.delta();
  await conversation.ask({ url: peer.url, requestId: "a", streamResponse: true });
  await firstDelta;
  assert.equal(await conversation.hold("a", true), true);
  assert.equal(await conversation.hold("a", true), true);
  await untilSteady(() => sent + conversation.sent.length);
  assert.ok(sent < mebibytes, `${sent} MiB were sent`);
  assert.equal(await conversation.hold("a", false), true);
  const { body, error } = joined(await conversation.stream("a"));
  assert.deepEqual([body.length, error], [mebibytes * 1024 * 1024, null]);
  for (let at = 0; at < mebibytes; at++) assert.equal(body.charCodeAt(at * 1024 * 1024), 65 + at);
  assert.equal(await conversation.hold("a", true), false);
});

Deno.test("a body that is cancelled, held or not, says nothing more, hangs up, and its name is free", async () => {
  for (const held of [false, true]) {
    await using half = new HalfPeer();
    await using conversation = new HttpConversation();
    const stream = { url: half.peer.url, requestId: "a", streamResponse: true };
    const firstDelta = conversation.delta();
    await conversation.ask(stream);
    await firstDelta;
    if (held) await conversation.hold("a", true);
    const { length } = conversation.sent;
    assert.equal(await conversation.cancel("a"), true);
    await half.hungUp.promise;
    assert.equal(await conversation.cancel("a"), false);
    await conversation.ask({ ...stream, url: `${half.peer.url}/ok` });
    await conversation.stream("a");
    const [answer, ...deltas] = conversation.sent.slice(length);
    assert.equal(answer, "answer");
    assert.deepEqual(joined(deltas as Delta[]), { body: "ok", error: null });
  }
});

Deno.test("a stream that is cancelled while it waits for its head, or for a slow client, ends as well", async () => {
  const asked = Promise.withResolvers<void>();
  await using silent = new RawPeer(({ hungUp }) => {
    asked.resolve();
    return hungUp();
  });
  await using conversation = new HttpConversation();
  const asking = conversation.refusal({ url: silent.url, requestId: "a", streamResponse: true });
  await asked.promise;
  assert.equal(await conversation.cancel("a"), true);
  assert.match(await asking, /^internal: http\/request failed: error sending request/);
  const body = "x".repeat(2 * HIGH_WATER_BYTES);
  await using large = RawPeer.saying(response("200 OK", body));
  const taking = Promise.withResolvers<void>();
  conversation.taking = taking.promise;
  await conversation.ask({ url: large.url, requestId: "a", streamResponse: true });
  await untilSteady(() => Number(conversation.near.congested));
  assert.equal(conversation.near.congested, true);
  assert.equal(await conversation.cancel("a"), true);
  taking.resolve();
  await conversation.near.drained();
  await untilSteady(() => conversation.sent.length);
  assert.ok(conversation.sent.every((sent) => sent === "answer" || !sent.done));
});

Deno.test("a connection that ends lets go of a body that is held", async () => {
  await using half = new HalfPeer();
  await using conversation = new HttpConversation();
  const firstDelta = conversation.delta();
  await conversation.ask({ url: half.peer.url, requestId: "a", streamResponse: true });
  await firstDelta;
  await conversation.hold("a", true);
  conversation.end();
  await half.hungUp.promise;
});
