import assert from "node:assert/strict";
import { HttpFailure } from "../../lib/http/failure.ts";
import { textToBytes } from "../../lib/http/bytes.ts";
import { ask, client, request } from "./ask.ts";
import { RawPeer, response } from "./raw_peer.ts";
import { untilSteady } from "./turns.ts";

const TLS = new URL("../fixtures/tls/", import.meta.url).pathname;
const TRUST = { SSL_CERT_FILE: `${TLS}ca.pem` };

/** A peer that is `localhost` and 127.0.0.1. */
function securePeer(answer = response("200 OK", "secret")): RawPeer {
  const listener = Deno.listenTls({
    hostname: "127.0.0.1",
    port: 0,
    cert: Deno.readTextFileSync(`${TLS}localhost.pem`),
    key: Deno.readTextFileSync(`${TLS}localhost.key`),
    alpnProtocols: ["h2", "http/1.1"],
  });
  return new RawPeer(async ({ send }) => await send(answer), listener);
}

/** How many sockets this process has, once none comes or goes any more. */
function sockets(): Promise<number> {
  const links = () => [...Deno.readDirSync("/proc/self/fd")].map(({ name }) => linkOf(`/proc/self/fd/${name}`));
  return untilSteady(() => links().filter((link) => link.startsWith("socket:")).length);
}

/** Empty for the descriptor that lists the others, which is gone by then. */
function linkOf(path: string): string {
  try {
    return Deno.readLinkSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

async function assertFails(promise: Promise<unknown>, message: RegExp): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof HttpFailure, String(error));
    assert.match(error.message, message);
    return true;
  });
}

Deno.test("https: is HTTP/1.1 over TLS, with the certificates that the environment adds", async () => {
  await using peer = securePeer();
  using http = client(TRUST);
  for (const host of ["localhost", "127.0.0.1"]) {
    assert.equal((await ask(http, request(`https://${host}:${peer.port}/p`))).body, "secret");
  }
  assert.equal((await ask(http, request(`https://localhost:${peer.port}/p`))).body, "secret");
  assert.equal(peer.connections, 2);
  assert.deepEqual(peer.seen[0]?.head[0], "GET /p HTTP/1.1");
});

Deno.test("https: fails where nobody vouches for the peer, or for another name", async () => {
  await using peer = securePeer();
  using trustless = client();
  await assertFails(ask(trustless, request(`https://localhost:${peer.port}/`)), /^error sending request for url/);
  using trusting = client(TRUST);
  const other = `https://[::ffff:127.0.0.1]:${peer.port}/`;
  await assertFails(ask(trusting, request(other)), /^error sending request for url/);
  assert.equal(peer.seen.length, 0);
});

Deno.test("https: to a peer that speaks no TLS fails, and ends with what waits for it", async () => {
  await using peer = RawPeer.saying(response("200 OK", "plain"));
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  using http = client(TRUST);
  const stop = new AbortController();
  const silent = `https://127.0.0.1:${(listener.addr as Deno.NetAddr).port}/`;
  const failed = assertFails(ask(http, request(silent), "follow", stop.signal), /^error sending/);
  using conn = await listener.accept();
  // The greeting of TLS has come: the handshake is under way.
  await conn.read(new Uint8Array(10));
  stop.abort();
  await failed;
  assert.equal(peer.seen.length, 0);
});

Deno.test({
  name: "https: leaves no socket behind when nobody waits any more for a peer that says or takes nothing",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const tls = {
      cert: Deno.readTextFileSync(`${TLS}localhost.pem`),
      key: Deno.readTextFileSync(`${TLS}localhost.key`),
    };
    using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    using greedless = Deno.listenTls({ hostname: "127.0.0.1", port: 0, ...tls });
    using http = client(TRUST);
    const before = await sockets();
    for (const listener of [silent, greedless]) {
      const stop = new AbortController();
      const url = `https://localhost:${(listener.addr as Deno.NetAddr).port}/`;
      const asked = request(url, { method: "POST", body: "0".repeat(16_000_000) });
      const failed = assertFails(ask(http, asked, "follow", stop.signal), /^error sending/);
      using conn = await listener.accept();
      await conn.read(new Uint8Array(10));
      stop.abort();
      await failed;
      assert.equal(await sockets(), before + 1, "this end of the connection alone is left");
    }
  },
});

Deno.test("a name that TLS knows no way to ask for leaves no connection to the proxy behind", async () => {
  await using proxy = RawPeer.saying("HTTP/1.1 200 OK\r\n\r\n");
  using http = client({ HTTPS_PROXY: proxy.url });
  await assertFails(ask(http, request("https://a..b/")), /^error sending/);
  await proxy.quiet();
  assert.equal(proxy.seen[0]?.head[0], "CONNECT a..b:443 HTTP/1.1");
});

Deno.test("CODEX_CA_CERTIFICATE counts more than SSL_CERT_FILE, and an empty one not at all", async () => {
  await using peer = securePeer();
  const url = `https://localhost:${peer.port}/`;
  using first = client({ CODEX_CA_CERTIFICATE: TRUST.SSL_CERT_FILE, SSL_CERT_FILE: "/nowhere" });
  assert.equal((await ask(first, request(url))).body, "secret");
  using second = client({ CODEX_CA_CERTIFICATE: "", ...TRUST });
  assert.equal((await ask(second, request(url))).body, "secret");
});

Deno.test("certificates that were asked for and are not there stop every request, with a word on what to do", async () => {
  await using peer = RawPeer.saying(response("200 OK"));
  const none = await Deno.makeTempFile();
  try {
    const hint = "If you set CODEX_CA_CERTIFICATE or SSL_CERT_FILE, ensure it points to a PEM file";
    using missing = client({ CODEX_CA_CERTIFICATE: "/nowhere", ...TRUST });
    await assertFails(
      ask(missing, request(peer.url)),
      new RegExp(
        "^Failed to read CA certificate file /nowhere selected by CODEX_CA_CERTIFICATE: " +
          `No such file or directory \\(os error 2\\)\\. ${hint}`,
      ),
    );
    using empty = client({ SSL_CERT_FILE: none });
    await assertFails(
      ask(empty, request(peer.url)),
      new RegExp(
        `^Failed to load CA certificates from ${none} selected by SSL_CERT_FILE: no certificates found in PEM file\\. ${hint}`,
      ),
    );
    await Deno.writeTextFile(none, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    await using secure = securePeer();
    await assertFails(ask(empty, request(`https://localhost:${secure.port}/`)), /^error sending request for url/);
  } finally {
    await Deno.remove(none);
  }
});

/** A proxy that answers what is asked of it in the clear, and opens tunnels to one peer. */
class Proxy implements AsyncDisposable {
  readonly heads: string[] = [];
  /** What it says to those who want a tunnel. */
  welcome = "HTTP/1.1 200 Go on\r\nx: y\r\n\r\n";
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #tunnels: Promise<unknown>[] = [];
  readonly #peerPort: number;

  constructor(peer: RawPeer) {
    this.#peerPort = peer.port;
    this.#tunnels.push(this.#serve());
  }

  get url(): string {
    return `http://user:word@127.0.0.1:${(this.#listener.addr as Deno.NetAddr).port}`;
  }

  async #serve(): Promise<void> {
    for (;;) {
      const conn = await this.#listener.accept().catch(() => undefined);
      if (conn === undefined) return;
      const buffer = new Uint8Array(65_536);
      const length = await conn.read(buffer);
      this.heads.push(new TextDecoder().decode(buffer.subarray(0, length ?? 0)));
      await conn.write(textToBytes(this.welcome));
      const peer = await Deno.connect({ hostname: "127.0.0.1", port: this.#peerPort });
      this.#tunnels.push(
        Promise.allSettled([conn.readable.pipeTo(peer.writable), peer.readable.pipeTo(conn.writable)]),
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    await Promise.all(this.#tunnels);
  }
}

Deno.test("a proxy opens a tunnel for https:, sees its credentials and nothing of the request", async () => {
  await using peer = securePeer();
  await using proxy = new Proxy(peer);
  using http = client({ ...TRUST, HTTPS_PROXY: proxy.url });
  for (let time = 0; time < 2; time++) {
    const headers: [string, string][] = [["x", "y"]];
    assert.equal((await ask(http, request(`https://localhost:${peer.port}/p`, { headers }))).body, "secret");
  }
  const credentials = `Proxy-Authorization: Basic ${btoa("user:word")}`;
  const authority = `localhost:${peer.port}`;
  assert.deepEqual(proxy.heads, [`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${credentials}\r\n\r\n`]);
  const usual = ["accept: */*", "accept-encoding: zstd,gzip", `host: ${authority}`];
  assert.deepEqual(peer.seen[1]?.head, ["GET /p HTTP/1.1", "x: y", ...usual]);
});

Deno.test("a proxy that opens no tunnel fails the request", async () => {
  await using peer = securePeer();
  for (const welcome of ["407 Who are you", "502 No", "204 Well"]) {
    await using proxy = new Proxy(peer);
    proxy.welcome = `HTTP/1.1 ${welcome}\r\ncontent-length: 0\r\n\r\n`;
    using http = client({ ...TRUST, HTTPS_PROXY: proxy.url });
    await assertFails(ask(http, request(`https://localhost:${peer.port}/`)), /^error sending request for url/);
  }
  assert.equal(peer.seen.length, 0);
});

Deno.test("a proxy reads requests for http: itself, also over TLS", async () => {
  await using plain = RawPeer.saying(response("200 OK", "by proxy"));
  await using secure = securePeer(response("200 OK", "by secure proxy"));
  using http = client({ HTTP_PROXY: plain.url });
  assert.equal((await ask(http, request("http://example.invalid/p?q"))).body, "by proxy");
  assert.deepEqual(plain.seen[0]?.head[0], "GET http://example.invalid/p?q HTTP/1.1");
  const variables = { ...TRUST, ALL_PROXY: `https://localhost:${secure.port}` };
  using securely = client(variables);
  assert.equal((await ask(securely, request("http://example.invalid/p"))).body, "by secure proxy");
  assert.deepEqual(secure.seen[0]?.head[0], "GET http://example.invalid/p HTTP/1.1");
  await assertFails(
    ask(securely, request("https://example.invalid/p")),
    /^https: URLs cannot be reached by way of an https: proxy$/,
  );
});

Deno.test("a proxy that cannot be spoken to is not gone around", async () => {
  await using peer = RawPeer.saying(response("200 OK"));
  using http = client({ ALL_PROXY: `socks5://127.0.0.1:${peer.port}` });
  await assertFails(ask(http, request(peer.url)), /^error sending request for url/);
  assert.equal(peer.connections, 0);
});
