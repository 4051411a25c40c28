import assert from "node:assert/strict";
import { textToBytes } from "../../lib/http/bytes.ts";
import { ask, client, failure, request, wholeText } from "./ask.ts";
import { RawPeer, response } from "./raw_peer.ts";
import { untilSteady } from "./turns.ts";

const OK = response("200 OK", "ok");

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
  assert.deepEqual(new Uint8Array((await body.read())!), textToBytes("first"));
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
    "a head that is a little too long": `HTTP/1.1 200 OK\r\na: ${"x".repeat(440_000)}\r\n\r\n`,
    "endless preliminary answers": `${"HTTP/1.1 100 Continue\r\n\r\n".repeat(1001)}HTTP/1.1 200 OK\r\n\r\n`,
    "endless empty lines": `${"\r\n".repeat(300_000)}HTTP/1.1 200 OK\r\n\r\n`,
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
    await conn.write(textToBytes(response("413 Too Much", "no")));
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
