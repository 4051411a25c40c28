import assert from "node:assert/strict";
import { HttpFailure } from "../../lib/http/failure.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { ask, bytes, client, request, wholeText } from "./ask.ts";
import { RawPeer, response } from "./raw_peer.ts";
import { untilSteady } from "./turns.ts";

const OK = response("200 OK", "ok");

/** What a request fails with. */
async function failure(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof HttpFailure) return `${error.stage}: ${error.message}`;
    throw error;
  }
  assert.fail("nothing failed");
}

Deno.test("HttpClient sends what it was given and gives what came", async () => {
  await using peer = RawPeer.saying(response("201 Made", "made", "X-A: 1", "Set-Cookie: a", "x-a: 2"));
  using http = client();
  const answer = await ask(http, request(`${peer.url}/p?q`, { method: "POST", headers: [["x", "y"]], body: "hello" }));
  assert.deepEqual(answer, {
    status: 201,
    headers: ["x-a: 1", "x-a: 2", "set-cookie: a", "content-length: 4"],
    body: "made",
  });
  assert.deepEqual(peer.seen.map(({ head, body }) => ({ head, body })), [{
    head: [
      "POST /p?q HTTP/1.1",
      "x: y",
      "accept: */*",
      "accept-encoding: zstd,gzip",
      `host: 127.0.0.1:${peer.port}`,
      "content-length: 5",
    ],
    body: "hello",
  }]);
});

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

Deno.test("HttpClient skips what is said before the answer proper", async () => {
  await using peer = RawPeer.saying(`\r\n\r\nHTTP/1.1 100 Continue\r\nx: y\r\n\r\nHTTP/1.1 103 Early\r\n\r\n${OK}`);
  using http = client();
  assert.deepEqual(await ask(http, request(peer.url)), { status: 200, headers: ["content-length: 2"], body: "ok" });
});

Deno.test("HttpClient reads a body to its length, to its last chunk or to the end of the connection", async () => {
  const chunks =
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3;x\r\nabc\r\nA\r\n0123456789\r\n0\r\nt: x\r\n\r\n";
  for (
    const [said, body, end] of [
      [response("200 OK", "x".repeat(100_000)), "x".repeat(100_000)],
      [chunks, "abc0123456789"],
      ["HTTP/1.1 200 OK\r\n\r\nuntil the end", "until the end", "close"],
      ["HTTP/1.0 200 OK\r\n\r\n", "", "close"],
    ] as [string, string, "close"?][]
  ) {
    await using peer = RawPeer.saying(said, end);
    using http = client();
    assert.equal((await ask(http, request(peer.url))).body, body);
  }
});

Deno.test("HttpClient gives pieces as they come, and nothing is held back", async () => {
  const { promise: asked, resolve: goOn } = Promise.withResolvers<void>();
  await using peer = new RawPeer(async ({ send }) => {
    await send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n");
    await asked;
    await send("6\r\nsecond\r\n0\r\n\r\n");
  });
  using http = client();
  const { body } = await http.send(request(peer.url), "follow", new AbortController().signal);
  assert.deepEqual(new Uint8Array((await body.read())!), bytes("first"));
  goOn();
  assert.equal(await wholeText(body), "second");
});

Deno.test("HttpClient answers HEAD, 204 and 304 without waiting for a body", async () => {
  const answers = { "/": response("200 OK", "", "x: y").replace("length: 0", "length: 9") };
  await using peer = RawPeer.withPaths({
    ...answers,
    "/204": "HTTP/1.1 204 None\r\n\r\n",
    "/304": "HTTP/1.1 304 Same\r\ncontent-length: 9\r\n\r\n",
  });
  using http = client();
  assert.equal((await ask(http, request(peer.url, { method: "HEAD" }))).body, "");
  for (const path of ["/204", "/304"]) assert.equal((await ask(http, request(`${peer.url}${path}`))).body, "");
  assert.equal(peer.connections, 1);
});

Deno.test("HttpClient fails before the answer if there is none, or none that it can read", async () => {
  const said = {
    "nothing": "",
    "half a head": "HTTP/1.1 200 OK\r\nconte",
    "garbage": "hello\r\n\r\n",
    "another version": "HTTP/2 200 OK\r\n\r\n",
    "two lengths": "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
    "chunks in 1.0": "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "endless headers": `HTTP/1.1 200 OK\r\n${`a: ${"x".repeat(9000)}\r\n`.repeat(60)}`,
  };
  for (const [what, text] of Object.entries(said)) {
    await using peer = RawPeer.saying(text, "close");
    using http = client();
    const url = `${peer.url}/x?y`;
    assert.equal(
      await failure(ask(http, request(url.replace("//", "//user:secret@")))),
      `request: error sending request for url (${url})`,
      what,
    );
  }
});

Deno.test("HttpClient fails within the body if that is cut short or malformed", async () => {
  const said = {
    "too short": "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort",
    "no last chunk": "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
    "a huge chunk": "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\nabc",
    "a bad trailer": "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nno trailer\r\n\r\n",
  };
  for (const [what, text] of Object.entries(said)) {
    await using peer = RawPeer.saying(text, "close");
    using http = client();
    assert.equal(await failure(ask(http, request(peer.url))), "body: error decoding response body", what);
  }
});

Deno.test("HttpClient fails if nobody listens, or the name leads nowhere", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  using http = client();
  for (const url of [`http://127.0.0.1:${port}/#f`, "http://nowhere.invalid/"]) {
    assert.equal(await failure(ask(http, request(url))), `request: error sending request for url (${url})`);
  }
});

Deno.test("HttpClient sends a large request whole", async () => {
  await using peer = RawPeer.saying(OK);
  using http = client();
  const body = "x".repeat(300_000);
  assert.equal((await ask(http, request(peer.url, { method: "POST", body }))).body, "ok");
  assert.equal(peer.seen[0]?.body.length, body.length);
});

Deno.test("HttpClient gives the answer of a peer that does not listen to the end of a large request", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const answering = (async () => {
    const conn = await listener.accept();
    await conn.read(new Uint8Array(100));
    await conn.write(bytes(response("413 Too Much", "no")));
    return conn;
  })();
  using http = client();
  const url = `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}/`;
  // More than the system takes on the way.
  const body = "x".repeat(32 * 1024 * 1024);
  const { status, body: said } = await ask(http, request(url, { method: "POST", body }));
  assert.deepEqual([status, said], [413, "no"]);
  (await answering).close();
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

Deno.test("HttpClient follows redirects up to the tenth", async () => {
  const redirect = (to: string) => response("302 Found", "moved", `location: ${to}`);
  const path = (number: number) => [`/${number}`, redirect(`/${number + 1}`)];
  await using peer = RawPeer.withPaths({
    ...Object.fromEntries(Array.from({ length: 11 }, (_, at) => path(at))),
    "/11": OK,
    "/ftp": redirect("ftp://elsewhere/"),
  });
  using http = client();
  assert.equal((await ask(http, request(`${peer.url}/1`))).body, "ok");
  assert.equal(peer.seen.length, 11);
  assert.equal(peer.connections, 1);
  assert.deepEqual(peer.heads[1], ["GET /2 HTTP/1.1", `referer: ${peer.url}/1`]);
  assert.equal(await failure(ask(http, request(`${peer.url}/0`))), "request: too many redirects");
  assert.equal(peer.seen.length, 22);
  assert.equal(
    await failure(ask(http, request(`${peer.url}/ftp`))),
    "request: redirect target uses unsupported URL scheme: ftp",
  );
  assert.equal((await ask(http, request(`${peer.url}/0`), "stop")).body, "moved");
});

Deno.test("HttpClient does not wait for the body of a redirect", async () => {
  const hungUp = Promise.withResolvers<void>();
  await using peer = new RawPeer(async (answering) => {
    if (answering.path === "/ok") return await answering.send(OK);
    await answering.send("HTTP/1.1 302 Found\r\nlocation: /ok\r\ncontent-length: 10\r\n\r\nsome");
    await answering.hungUp();
    hungUp.resolve();
  });
  using http = client();
  assert.equal((await ask(http, request(peer.url))).body, "ok");
  await hungUp.promise;
});

Deno.test("HttpClient names the hop that failed", async () => {
  await using peer = RawPeer.saying(response("302 Found", "", "location: http://u:secret@127.0.0.1:1/x#f"));
  using http = client();
  const expected = "request: error sending request for url (http://127.0.0.1:1/x#f)";
  assert.equal(await failure(ask(http, request(peer.url))), expected);
});

Deno.test("HttpClient reads from the peer only what somebody asks for", async () => {
  let written = 0;
  const total = 64 * 1024 * 1024;
  await using peer = new RawPeer(async ({ send, write }) => {
    await send(`HTTP/1.1 200 OK\r\ncontent-length: ${total}\r\n\r\n`);
    const block = new Uint8Array(65_536);
    for (; written < total; written += block.length) await write(block);
  });
  using http = client();
  const { body } = await http.send(request(peer.url), "follow", new AbortController().signal);
  await body.read();
  const quiet = await untilSteady(() => written);
  assert.ok(quiet < total / 2, `${quiet} bytes were taken though nobody asked for them`);
  let read = 0;
  for (let piece; (piece = await body.read()) !== null;) read += piece.length;
  assert.ok(read > total - 1_000_000);
  assert.equal(written, total);
});
