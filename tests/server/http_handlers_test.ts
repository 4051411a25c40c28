import assert from "node:assert/strict";
import { RawPeer, response } from "../http/raw_peer.ts";
import { untilSteady } from "../http/turns.ts";
import { MAX_BUFFERED_BODY_BYTES } from "../../lib/server/http_streams.ts";
import { HttpConversation } from "./http_conversation.ts";

const OK = response("200 OK", "ok", "x-a: 1", "X-Bin: \xe4", "X-A: 2");

Deno.test("http/request answers with the status, the printable headers and the body", async () => {
  await using peer = RawPeer.saying(OK);
  await using conversation = new HttpConversation();
  assert.deepEqual(await conversation.ask({ url: `${peer.url}/p` }), {
    status: 200,
    headers: [{ name: "x-a", value: "1" }, { name: "x-a", value: "2" }, { name: "content-length", value: "2" }],
    bodyBase64: btoa("ok"),
  });
});

Deno.test("http/request sends method, headers and body as they were given, and user and password of the URL", async () => {
  await using peer = RawPeer.saying(OK);
  await using conversation = new HttpConversation();
  const headers = [{ name: "X-Dup", value: "1" }, { name: "x-dup", value: "é" }];
  const url = `http://us%40er:word@127.0.0.1:${peer.port}/p?q#f`;
  await conversation.ask({ method: "put", url, headers, bodyBase64: btoa("hello") });
  await conversation.ask({ url, headers: [{ name: "Authorization", value: "mine" }], bodyBase64: "" });
  const usual = ["accept: */*", "accept-encoding: zstd,gzip", `host: 127.0.0.1:${peer.port}`];
  const basic = `authorization: Basic ${btoa("us@er:word")}`;
  assert.deepEqual(peer.seen.map(({ head, body }) => [head, body]), [
    [["put /p?q HTTP/1.1", basic, "x-dup: 1", "x-dup: \xc3\xa9", ...usual, "content-length: 5"], "hello"],
    [["GET /p?q HTTP/1.1", "authorization: mine", ...usual], ""],
  ]);
});

Deno.test("http/request appends a variable of the server's environment to a header's value", async () => {
  await using peer = RawPeer.saying(OK);
  await using conversation = new HttpConversation({ variables: { TOKEN: "sekret", EMPTY: "", BAD: "a\nb" } });
  const ask = (valueEnvVar: string | null, name = "Authorization") => ({
    url: peer.url,
    headers: [{ name, value: "Bearer ", valueEnvVar }],
  });
  await conversation.ask(ask("TOKEN"));
  await conversation.ask(ask(null));
  assert.deepEqual(peer.heads, [
    ["GET / HTTP/1.1", "authorization: Bearer sekret"],
    ["GET / HTTP/1.1", "authorization: Bearer "],
  ]);
  for (
    const [variable, text] of [
      ["NOPE", "header Authorization requires executor environment variable NOPE"],
      ["EMPTY", "header Authorization requires a non-empty executor environment variable EMPTY"],
      ["BAD", "header value is invalid for Authorization: failed to parse header value"],
    ] as const
  ) {
    assert.equal(await conversation.refusal(ask(variable)), `invalidParams: http/request ${text}`);
  }
  assert.equal(
    await conversation.refusal(ask("NOPE", "a b")),
    "invalidParams: http/request header name is invalid: invalid HTTP header name",
  );
});

Deno.test("http/request refuses what cannot be sent, the method first, then the URL, then header by header", async () => {
  await using conversation = new HttpConversation();
  const bad = { method: "G T", url: "x", headers: [{ name: "a b", value: "" }] };
  const method = "method is invalid: invalid HTTP method";
  const name = "header name is invalid: invalid HTTP header name";
  const cases: [Record<string, unknown>, string][] = [
    [bad, method],
    [{ ...bad, timeoutMs: 0 }, method],
    [{ url: "http://h/", method: "" }, method],
    [{ ...bad, method: "GET" }, "url is invalid: relative URL without a base"],
    [{ url: "http://" }, "url is invalid: empty host"],
    [{ url: "http://h:99999/" }, "url is invalid: invalid port number"],
    [{ ...bad, method: "GET", url: "FTP://x/y" }, "only supports http and https URLs, got ftp"],
    [{ url: "mailto:x" }, "only supports http and https URLs, got mailto"],
    [{ ...bad, method: "GET", url: "http://h/" }, name],
    [
      { url: "http://h/", headers: [{ name: "X-A", value: "a\nb" }, { name: "a b", value: "" }] },
      "header value is invalid for X-A: failed to parse header value",
    ],
    [
      { url: "http://h/", headers: [{ name: "X-A", value: "a\n", valueEnvVar: "NOPE" }] },
      "header X-A requires executor environment variable NOPE",
    ],
  ];
  for (const [members, text] of cases) {
    assert.equal(await conversation.refusal(members), `invalidParams: http/request ${text}`);
  }
});

Deno.test("http/request fails in the words of the wire, and tells no secret", async () => {
  const lines: string[] = [];
  const keep = (message: string, fields?: unknown) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log = { error: keep, warn: keep, info: keep, debug: keep };
  await using peer = RawPeer.withPaths({
    "/short": "HTTP/1.1 200 OK\r\ncontent-length: 9\r\nconnection: close\r\n\r\n",
    "/garbage": "garbage: sekret\r\n\r\n",
    "/loop": response("302 Found", "", "location: /loop"),
  });
  await using conversation = new HttpConversation({ log, variables: { TOKEN: "sekret" } });
  const members = (path: string) => ({
    url: `http://user:sekret@127.0.0.1:${peer.port}${path}`,
    headers: [{ name: "a", value: "", valueEnvVar: "TOKEN" }],
    bodyBase64: btoa("sekret"),
    method: "POST",
  });
  const sending = `http/request failed: error sending request for url (${peer.url}/garbage)`;
  assert.equal(await conversation.refusal(members("/garbage")), `internal: ${sending}`);
  assert.equal(await conversation.refusal(members("/loop")), "internal: http/request failed: too many redirects");
  assert.equal(
    await conversation.refusal({ ...members("/"), timeoutMs: 0 }),
    "internal: http/request failed: route-aware request timed out",
  );
  assert.ok(lines.length > 0);
  assert.ok(!lines.join("\n").includes("sekret"), lines.join("\n"));
});

Deno.test("http/request gives up after its time, before the head and within the body", async () => {
  for (
    const [said, text] of [
      ["", "http/request failed: error sending request for url (URL/)"],
      [
        "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf",
        "failed to read http/request response body: error decoding response body",
      ],
    ] as const
  ) {
    const reached = Promise.withResolvers<void>();
    const hungUp = Promise.withResolvers<void>();
    await using peer = new RawPeer(async (answering) => {
      await answering.send(said);
      reached.resolve();
      await answering.hungUp();
      hungUp.resolve();
    });
    await using conversation = new HttpConversation();
    const refusal = conversation.refusal({ url: peer.url, timeoutMs: 1000 });
    await reached.promise;
    // What was said has arrived by then, and has been read.
    await untilSteady(() => 0);
    conversation.clock.advance(999);
    conversation.clock.advance(1);
    assert.equal(await refusal, `internal: ${text.replace("URL", peer.url)}`);
    await hungUp.promise;
    assert.equal(conversation.clock.pendingTimers, 0);
  }
});

Deno.test("http/request takes a time that no timer can count for no limit", async () => {
  await using peer = RawPeer.saying(OK);
  await using conversation = new HttpConversation();
  assert.equal((await conversation.ask({ url: peer.url, timeoutMs: 2 ** 53 })).status, 200);
});

Deno.test("http/request answers with a body of megabytes whole", async () => {
  const body = "0123456789abcdef".repeat(500_000);
  await using peer = RawPeer.saying(response("200 OK", body));
  await using conversation = new HttpConversation();
  const { bodyBase64, headers } = await conversation.ask({ url: peer.url });
  assert.ok(bodyBase64 === btoa(body));
  assert.deepEqual(headers, [{ name: "content-length", value: "8000000" }]);
});

Deno.test("http/request refuses a body that does not fit one message, as soon as its length is known", async () => {
  // In base64, with a megabyte beside it, it must fit the engine's longest string.
  assert.ok(Math.ceil(MAX_BUFFERED_BODY_BYTES / 3) * 4 + 1024 * 1024 <= 2 ** 29 - 24);
  const length = MAX_BUFFERED_BODY_BYTES + 1;
  await using peer = RawPeer.saying(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\nsome`);
  await using conversation = new HttpConversation();
  assert.equal(
    await conversation.refusal({ url: peer.url }),
    `internal: failed to read http/request response body: the body is longer than ${length - 1} bytes`,
  );
  assert.equal((await conversation.ask({ url: peer.url, method: "HEAD" })).status, 200);
});

Deno.test("http/request is ended with its connection, and the HTTP peer hears of it at once", async () => {
  const reached = Promise.withResolvers<void>();
  const hungUp = Promise.withResolvers<void>();
  await using peer = new RawPeer(async (answering) => {
    reached.resolve();
    await answering.hungUp();
    hungUp.resolve();
  });
  await using conversation = new HttpConversation();
  const refusal = conversation.refusal({ url: peer.url });
  await reached.promise;
  conversation.end();
  await hungUp.promise;
  assert.match(await refusal, /^internal/);
});
