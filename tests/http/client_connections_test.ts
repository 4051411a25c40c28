import assert from "node:assert/strict";
import { ManualClock } from "../support/manual_clock.ts";
import { ask, client, failure, request } from "./ask.ts";
import { RawPeer, response } from "./raw_peer.ts";

const OK = response("200 OK", "ok");

Deno.test("HttpClient uses a connection again once its answer has been read, and for one request at a time", async () => {
  await using peer = RawPeer.saying(OK);
  using http = client();
  for (let time = 0; time < 3; time++) await ask(http, request(peer.url));
  assert.equal(peer.connections, 1);
  const unread = await http.send(request(peer.url), "follow", new AbortController().signal);
  await ask(http, request(peer.url));
  assert.equal(peer.connections, 2);
  unread.body[Symbol.dispose]();
});

Deno.test("HttpClient leaves a connection alone that the peer or the caller wants to end, or on which too much was said", async () => {
  const answers: Record<string, string> = {
    "/close": response("200 OK", "ok", "connection: keep-alive, Close"),
    "/1.0": "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok",
    "/more": `${OK}more`,
    "/mine": OK,
    "/upgrade": "HTTP/1.1 101 Other\r\nupgrade: x\r\n\r\n",
  };
  for (const path of Object.keys(answers)) {
    await using peer = RawPeer.withPaths(answers);
    using http = client();
    const headers: [string, string][] = path === "/mine" ? [["connection", "close"]] : [];
    for (let time = 0; time < 2; time++) await ask(http, request(`${peer.url}${path}`, { headers }));
    assert.equal(peer.connections, 2, path);
  }
});

Deno.test("HttpClient does not send a request into a connection that the peer has ended meanwhile", async () => {
  await using peer = RawPeer.saying(OK, "close");
  using http = client();
  for (let time = 0; time < 10; time++) {
    assert.equal((await ask(http, request(peer.url, { method: "POST", body: "once" }))).body, "ok");
    await peer.quiet();
  }
  assert.equal(peer.seen.length, 10);
});

Deno.test("HttpClient hears the end of a connection that came just before it would have used it", async () => {
  let end = () => {};
  await using peer = new RawPeer(async (answering) => {
    await answering.send(OK);
    end = answering.end;
  });
  using http = client();
  for (let time = 0; time < 3; time++) {
    const answer = ask(http, request(peer.url, { method: "POST", body: "once" }));
    assert.equal((await answer).body, "ok");
    end();
  }
  assert.equal(peer.seen.length, 3);
});

Deno.test("HttpClient repeats what may be repeated, once, if a connection that was kept ends without an answer", async () => {
  // Answers the first request of each connection, and none to the second one.
  const served = new Set<number>();
  await using peer = new RawPeer(async ({ request: { connection }, send }) => {
    const again = served.has(connection);
    served.add(connection);
    if (!again) await send(OK);
    return again ? "close" : undefined;
  });
  using http = client();
  await ask(http, request(peer.url));
  assert.equal((await ask(http, request(`${peer.url}/again`))).body, "ok");
  assert.deepEqual(peer.seen.map(({ connection }) => connection), [1, 1, 2]);
  assert.match(await failure(ask(http, request(peer.url, { method: "POST" }))), /^request: error sending request/);
  assert.equal(peer.seen.length, 4);
});

Deno.test("HttpClient ends a connection that nobody used for ninety seconds", async () => {
  const hungUp = Promise.withResolvers<void>();
  await using peer = new RawPeer(async (answering) => {
    await answering.send(OK);
    await answering.hungUp();
    hungUp.resolve();
  });
  const clock = new ManualClock();
  using http = client({}, clock);
  await ask(http, request(peer.url));
  assert.equal(clock.pendingTimers, 1);
  clock.advance(90_000);
  await hungUp.promise;
});

Deno.test("HttpClient ends the connection at once when it is told to stop, whatever it waits for", async () => {
  const waits: Record<string, string> = {
    "the head": "",
    "the rest of the head": "HTTP/1.1 200 OK\r\nx",
    "the body": "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nsome",
  };
  for (const [what, said] of Object.entries(waits)) {
    const reached = Promise.withResolvers<void>();
    const hungUp = Promise.withResolvers<void>();
    await using peer = new RawPeer(async (answering) => {
      await answering.send(said);
      reached.resolve();
      await answering.hungUp();
      hungUp.resolve();
    });
    using http = client();
    const stop = new AbortController();
    const failed = failure(ask(http, request(peer.url), "follow", stop.signal));
    await reached.promise;
    stop.abort();
    await hungUp.promise;
    assert.match(await failed, /^(request: error sending|body: error decoding)/, what);
  }
  using http = client();
  assert.match(await failure(ask(http, request("http://127.0.0.1:1/"), "follow", AbortSignal.abort())), /^request/);
});

Deno.test("HttpClient ends the connection of a body that is given up, unless all of it has been received", async () => {
  await using peer = RawPeer.withPaths({ "/": OK, "/long": "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nsome" });
  using http = client();
  const head = async (path: string) =>
    (await http.send(request(`${peer.url}${path}`), "follow", new AbortController().signal)).body[Symbol.dispose]();
  await head("/");
  await head("/long");
  assert.equal(peer.connections, 1);
  await head("/");
  assert.equal(peer.connections, 2);
});
