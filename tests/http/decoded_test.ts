import assert from "node:assert/strict";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { HttpFailure } from "../../lib/http/failure.ts";
import { bytesToText, textToBytes } from "../../lib/http/bytes.ts";
import { ask, client, request } from "./ask.ts";
import { RawPeer, response } from "./raw_peer.ts";

const CODINGS = {
  gzip: (text: string) => bytesToText(gzipSync(textToBytes(text))),
  zstd: (text: string) => bytesToText(zstdCompressSync(textToBytes(text))),
};
type Coding = keyof typeof CODINGS;
const NAMES = Object.keys(CODINGS) as Coding[];

/** What is left of a response with this body and these headers. */
async function decode(body: string, headers: string[], options: { method?: string; status?: string } = {}) {
  const { method = "GET", status = "200 OK" } = options;
  await using peer = RawPeer.saying(response(status, body, ...headers));
  using http = client();
  const { headers: left, body: text } = await ask(http, request(peer.url, { method }));
  return { headers: left, body: text };
}

async function assertUndecodable(body: string, coding: Coding): Promise<void> {
  await assert.rejects(decode(body, [`content-encoding: ${coding}`]), (error) => {
    assert.ok(error instanceof HttpFailure);
    assert.deepEqual([error.stage, error.message], ["body", "error decoding response body"]);
    return true;
  });
}

Deno.test("gzip and zstd are taken off, and so is what they make untrue", async () => {
  for (const coding of NAMES) {
    const headers = ["a: 1", `content-encoding: ${coding}`, "b: 2"];
    const decoded = await decode(CODINGS[coding]("hello"), headers);
    assert.deepEqual(decoded, { headers: ["a: 1", "b: 2"], body: "hello" });
    const long = "0123456789abcdef".repeat(40_000);
    assert.equal((await decode(CODINGS[coding](long), headers)).body, long);
  }
});

Deno.test("other codings, and other ways to write these, are left alone", async () => {
  const body = CODINGS.gzip("hello");
  for (const value of ["GZIP", "x-gzip", "gzip, gzip", "deflate", "br", "identity", ""]) {
    const headers = [`content-encoding: ${value}`, `content-length: ${body.length}`];
    assert.deepEqual(await decode(body, headers.slice(0, 1)), { headers, body });
  }
});

Deno.test("the first content-encoding counts, and all are removed with it", async () => {
  const headers = ["content-encoding: gzip", "content-encoding: identity"];
  assert.deepEqual(await decode(CODINGS.gzip("hello"), headers), { headers: [], body: "hello" });
  assert.equal((await decode(CODINGS.gzip("hello"), headers.toReversed())).body, CODINGS.gzip("hello"));
});

Deno.test("no body is not decoded", async () => {
  for (const coding of NAMES) {
    const headers = [`content-encoding: ${coding}`];
    assert.deepEqual(await decode("", headers), { headers: [], body: "" });
    assert.deepEqual(await decode("", headers, { status: "304 Same" }), { headers: [], body: "" });
    assert.deepEqual(await decode("", headers, { method: "HEAD" }), { headers: [], body: "" });
  }
});

Deno.test("all members of a compressed body are decoded", async () => {
  for (const coding of NAMES) {
    const body = CODINGS[coding]("one, ") + CODINGS[coding]("") + CODINGS[coding]("two");
    assert.equal((await decode(body, [`content-encoding: ${coding}`])).body, "one, two");
  }
});

Deno.test("a compressed body that was cut short or changed is not taken for a whole one", async () => {
  for (const coding of NAMES) {
    const body = CODINGS[coding]("hello hello hello hello");
    for (const end of [1, 5, 12, body.length - 1]) await assertUndecodable(body.slice(0, end), coding);
    await assertUndecodable("no compressed body at all", coding);
    await assertUndecodable(`${body}junk`, coding);
  }
  const gzip = CODINGS.gzip("hello");
  await assertUndecodable(`${gzip.slice(0, -8)}....${gzip.slice(-4)}`, "gzip");
});

Deno.test("what was decoded before a defect is given before it is told", async () => {
  const { promise: read, resolve: wasRead } = Promise.withResolvers<void>();
  for (const coding of NAMES) {
    await using peer = new RawPeer(async ({ send }) => {
      const body = CODINGS[coding]("first") + CODINGS[coding]("second").slice(0, -3);
      await send(
        `HTTP/1.1 200 OK\r\ncontent-encoding: ${coding}\r\n\r\n${body.slice(0, CODINGS[coding]("first").length)}`,
      );
      await read;
      await send(body.slice(CODINGS[coding]("first").length));
      return "close";
    });
    using http = client();
    const { body } = await http.send(request(peer.url), "follow", new AbortController().signal);
    assert.equal(bytesToText((await body.read())!), "first");
    wasRead();
    await assert.rejects(async () => {
      while (await body.read() !== null);
    }, HttpFailure);
    body[Symbol.dispose]();
  }
});

Deno.test("a compressed body that is given up leaves nothing behind, even if it unfolds to more than anybody reads", async () => {
  for (const coding of NAMES) {
    await using peer = RawPeer.saying(
      response("200 OK", CODINGS[coding]("0".repeat(30_000_000)), `content-encoding: ${coding}`),
    );
    using http = client();
    const { body } = await http.send(request(peer.url), "follow", new AbortController().signal);
    assert.ok((await body.read())!.length <= 65_536);
    body[Symbol.dispose]();
    const unread = await http.send(request(peer.url), "follow", new AbortController().signal);
    unread.body[Symbol.dispose]();
  }
});

Deno.test("while a small body unfolds to much, others have their turn", async () => {
  await using others = RawPeer.saying(response("200 OK"));
  for (const coding of NAMES) {
    // So little that it is received at once.
    const body = CODINGS[coding]("0".repeat(14_000_000));
    await using peer = RawPeer.saying(response("200 OK", body, `content-encoding: ${coding}`));
    using http = client();
    await ask(http, request(others.url));
    const { body: unfolding } = await http.send(request(peer.url), "follow", new AbortController().signal);
    await unfolding.read();
    let answered = false;
    const other = ask(http, request(others.url)).then(() => answered = true);
    while (await unfolding.read() !== null);
    assert.ok(answered, coding);
    await other;
  }
});

Deno.test("what has been received and not yet decoded is not decoded any more when nobody waits for it", async () => {
  for (const coding of NAMES) {
    await using peer = RawPeer.saying(
      response("200 OK", CODINGS[coding]("0".repeat(1_000_000)), `content-encoding: ${coding}`),
    );
    using http = client();
    const aborter = new AbortController();
    const { body } = await http.send(request(peer.url), "follow", aborter.signal);
    await body.read();
    aborter.abort();
    await assert.rejects(body.read(), HttpFailure);
  }
});
