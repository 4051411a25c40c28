import assert from "node:assert/strict";
import { RawWebSocketServer, type Upgrade } from "./support/raw_websocket_server.ts";

const FIXTURES = new URL("../fixtures/", import.meta.url).pathname;

/** A server that is `localhost`. */
function secureServer(serve: (upgrade: Upgrade) => Promise<void>): RawWebSocketServer {
  const listener = Deno.listenTls({
    hostname: "127.0.0.1",
    port: 0,
    cert: Deno.readTextFileSync(`${FIXTURES}tls/localhost.pem`),
    key: Deno.readTextFileSync(`${FIXTURES}tls/localhost.key`),
  });
  return new RawWebSocketServer(serve, listener);
}

/** What a program prints that dials the URL, with our certificate authority or without. */
async function dial(url: string, trusting: boolean): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", `${FIXTURES}dial_tls.ts`, url],
    env: trusting ? { DENO_CERT: `${FIXTURES}tls/ca.pem` } : {},
    stderr: "inherit",
  }).output();
  return new TextDecoder().decode(stdout).trim();
}

Deno.test("over TLS a status instead of the upgrade is told, though the platform keeps it to itself", async () => {
  const tokens: (string | undefined)[] = [];
  await using server = secureServer(async ({ requestLine, headers, answer, accept, tcp }) => {
    tokens.push(headers.get("authorization"));
    const status = /\/(\d{3})/.exec(requestLine)?.[1];
    if (status !== undefined) return await answer(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
    if (requestLine.includes("/nothing")) return tcp.close();
    await accept();
    await tcp.read(new Uint8Array(16));
    // An empty close frame, as the answer to the client's.
    await tcp.write(new Uint8Array([0x88, 0]));
  });
  const failed = (url: string) => `failed to connect to exec-server websocket \`${url}\``;
  const causes = {
    "/401": "HTTP error: 401 Unauthorized",
    "/503?a=b": "HTTP error: 503 Service Unavailable",
    "/nothing": "WebSocket protocol error: Handshake not finished",
  };
  for (const [path, cause] of Object.entries(causes)) {
    const url = `${server.url}${path}`;
    assert.equal(await dial(url, true), `${failed(url)}: ${cause}`);
  }
  assert.equal(await dial(server.url, true), "open");
  assert.deepEqual(new Set(tokens), new Set(["Bearer secret"]));
});

Deno.test("over TLS nothing is sent to a server for whom nobody vouches", async () => {
  await using server = secureServer(() => Promise.reject(new Error("a request came")));
  assert.match(await dial(server.url, false), /: TLS error: invalid peer certificate: UnknownIssuer$/);
});
