import assert from "node:assert/strict";
import { createLog, silentLog } from "../../lib/log.ts";
import type { Authorizer } from "../../lib/server/auth.ts";
import { isLoopback, listen, type Listener } from "../../lib/server/listener.ts";
import {
  EXAMPLE_ACCEPT,
  OPCODE,
  RawConnection,
  rawRequest,
  type RawResponse,
  rawTarget,
  upgradeHeaders,
} from "../support/raw_http.ts";
import { Recorder } from "../support/recorder.ts";

const CONNECTION = "Connection header did not include 'upgrade'";
const UPGRADE = "`Upgrade` header did not include 'websocket'";
const VERSION = "`Sec-WebSocket-Version` header did not include '13'";
const KEY = "`Sec-WebSocket-Key` header missing";
const METHOD = "Request method must be `GET`";

function startListener(authorize: Authorizer | null = null, allowedOrigins: readonly string[] = []): Listener {
  return listen({
    address: { hostname: "127.0.0.1", port: 0 },
    authorize,
    allowedOrigins,
    log: silentLog,
    onConnection: (connection) => void new Recorder(connection),
  });
}

/** The answer as one line; a plain text with its headers, which must be those of the reference. */
function summary({ status, headers, body }: RawResponse): string {
  const fields = headers.filter(([name]) => name !== "connection").map(([name, value]) => `${name}: ${value}`).join(
    ", ",
  );
  if (status === 101) {
    assert.equal(fields, `upgrade: websocket, sec-websocket-accept: ${EXAMPLE_ACCEPT}`);
    return "101";
  }
  if (body !== "") assert.equal(fields, `content-type: text/plain; charset=utf-8, content-length: ${body.length}`);
  else if (status !== 405) assert.equal(fields, "content-length: 0");
  return body === "" ? String(status) : `${status} ${body}`;
}

async function expectAnswers(
  listener: Listener,
  cases: readonly (readonly [requestLine: string, headers: readonly string[], expected: string, body?: string])[],
): Promise<void> {
  const target = rawTarget(listener.url);
  for (const [line, headers, expected, body] of cases) {
    const answer = summary(await rawRequest(target, `${line} HTTP/1.1`, headers, body));
    assert.equal(answer, expected, `${line} ${headers.join(", ")}`);
  }
}

Deno.test("listen answers /readyz to GET and HEAD, whatever else the request says", async () => {
  await using listener = startListener(() => Promise.resolve("never asked"));
  await expectAnswers(listener, [
    ["GET /readyz", ["Host: x"], "200"],
    ["HEAD /readyz", ["Host: x"], "200"],
    ["GET /readyz?x=1", [], "200"],
    ["GET /readyz", upgradeHeaders(), "200"],
    ["GET /readyz", ["Host: evil.example", "Accept-Encoding: gzip, br"], "200"],
    ["GET http://elsewhere/readyz", ["Host: x"], "200"],
  ]);
});

Deno.test("listen allows no other method on /readyz", async () => {
  await using listener = startListener();
  for (const method of ["POST", "OPTIONS", "DELETE", "FOO", "get"]) {
    const answer = await rawRequest(rawTarget(listener.url), `${method} /readyz HTTP/1.1`, ["Host: x"]);
    assert.deepEqual([answer.status, answer.body], [405, ""]);
    assert.deepEqual(answer.headers, [["allow", "GET,HEAD"], ["content-length", "0"]]);
  }
});

Deno.test("listen knows no other path, and takes paths as they were written", async () => {
  await using listener = startListener();
  const paths = ["/healthz", "/readyz/", "/READYZ", "/%72eadyz", "//readyz", "/./readyz", "/x/../readyz", "/\\readyz"];
  await expectAnswers(listener, paths.map((path) => [`GET ${path}`, ["Host: x"], "404"] as const));
  const nearRoots = ["//", "/%2e", "/.", "/./", "/a/..", "/../", "/\\", "/foo"];
  await expectAnswers(listener, nearRoots.map((path) => [`GET ${path}`, upgradeHeaders(), "404"] as const));
  await expectAnswers(listener, [
    ["POST /nope", ["Host: x", "Content-Length: 5"], "404", "hello"],
    ["OPTIONS *", ["Host: x"], "404"],
    ["CONNECT elsewhere:80", ["Host: x"], "404"],
  ]);
});

Deno.test("listen upgrades GET /, whatever the query, the host or the case of the headers", async () => {
  await using listener = startListener();
  const without = (name: string, ...plus: string[]) => upgradeHeaders({ without: name, plus });
  await expectAnswers(listener, [
    ["GET /", upgradeHeaders(), "101"],
    ["GET /?x=1", upgradeHeaders(), "101"],
    ["GET /?", upgradeHeaders(), "101"],
    ["GET /#x", upgradeHeaders(), "101"],
    ["GET http://elsewhere/", upgradeHeaders(), "101"],
    ["GET http://elsewhere", upgradeHeaders(), "101"],
    ["GET /", without("Host"), "101"],
    ["GET /", without("Host", "Host: user@evil:99999"), "101"],
    ["GET /", without("Connection", "Connection: keep-alive, Upgrade"), "101"],
    ["GET /", without("Connection", "connection: UPGRADE"), "101"],
    ["GET /", without("Connection", "Connection: Upgrade", "Connection: keep-alive"), "101"],
    ["GET /", without("Upgrade", "Upgrade:   WebSocket  "), "101"],
    ["GET /", upgradeHeaders({ plus: ["Sec-WebSocket-Version: 13"] }), "101"],
    ["GET /", upgradeHeaders({ plus: ["Sec-WebSocket-Version: 8"] }), "101"],
    ["GET /", upgradeHeaders({ plus: ["Authorization: Basic x"] }), "101"],
  ]);
});

Deno.test("listen selects no extension and no sub-protocol, whatever is offered", async () => {
  await using listener = startListener();
  await expectAnswers(listener, [
    [
      "GET /",
      upgradeHeaders({ plus: ["Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"] }),
      "101",
    ],
    ["GET /", upgradeHeaders({ plus: ["Sec-WebSocket-Protocol: foo, bar"] }), "101"],
    ["GET /", upgradeHeaders({ plus: ["Sec-WebSocket-Protocol: foo foo,,"] }), "101"],
  ]);
});

Deno.test("listen says what an upgrade lacks, in the reference's order", async () => {
  await using listener = startListener();
  const without = (name: string, ...plus: string[]) => upgradeHeaders({ without: name, plus });
  await expectAnswers(listener, [
    ["POST /", upgradeHeaders(), `405 ${METHOD}`],
    ["POST /", ["Host: x", "Content-Length: 5"], `405 ${METHOD}`, "hello"],
    ["OPTIONS /", ["Host: x"], `405 ${METHOD}`],
    ["get /", upgradeHeaders(), `405 ${METHOD}`],
    ["GET /", ["Host: x"], `400 ${CONNECTION}`],
    ["GET /", ["Host: x", "Content-Length: 5"], `400 ${CONNECTION}`, "hello"],
    ["GET /", ["Host: x", "Accept-Encoding: gzip, br"], `400 ${CONNECTION}`],
    ["GET /", ["Host: x", "Sec-WebSocket-Version: 8"], `400 ${CONNECTION}`],
    ["GET /", without("Connection"), `400 ${CONNECTION}`],
    ["GET /", without("Connection", "Connection:"), `400 ${CONNECTION}`],
    ["GET /", ["Connection: Upgrade", "Sec-WebSocket-Version: 8"], `400 ${UPGRADE}`],
    ["GET /", without("Upgrade"), `400 ${UPGRADE}`],
    ["GET /", without("Upgrade", "Upgrade: h2c, websocket"), `400 ${UPGRADE}`],
    ["GET /", without("Upgrade", "Upgrade: websocket/13"), `400 ${UPGRADE}`],
    ["GET /", ["Connection: Upgrade", "Upgrade: websocket"], `400 ${VERSION}`],
    ["GET /", without("Sec-WebSocket-Version", "Sec-WebSocket-Version: 8"), `400 ${VERSION}`],
    ["GET /", without("Sec-WebSocket-Version", "Sec-WebSocket-Version: 013"), `400 ${VERSION}`],
    [
      "GET /",
      without("Sec-WebSocket-Version", "Sec-WebSocket-Version: 8", "Sec-WebSocket-Version: 13"),
      `400 ${VERSION}`,
    ],
    ["GET /", without("Sec-WebSocket-Key"), `400 ${KEY}`],
  ]);
  const head = await rawRequest(rawTarget(listener.url), "HEAD / HTTP/1.1", ["Host: x"]);
  assert.deepEqual([head.status, head.headers.at(-1)], [405, ["content-length", String(METHOD.length)]]);
});

Deno.test("listen refuses whatever comes from a web page before it looks at anything else", async () => {
  await using listener = startListener(() => Promise.resolve("never asked"));
  for (const origin of ["http://x", "null", "", listener.url]) {
    const headers = [`Origin: ${origin}`];
    await expectAnswers(listener, [
      ["GET /", upgradeHeaders({ plus: headers }), "403"],
      ["GET /readyz", headers, "403"],
      ["GET /nope", headers, "403"],
      ["POST /", [...headers, "Content-Length: 0"], "403"],
      ["HEAD /readyz", headers, "403"],
    ]);
  }
});

Deno.test("listen lets those pages in that are allowed, letter by letter, and nothing else is different for them", async () => {
  const allowed = ["https://app.example.com", "http://localhost:3000"];
  const authorize: Authorizer = (header) => Promise.resolve(header === null ? "no entry" : undefined);
  await using listener = startListener(authorize, allowed);
  const from = (origin: string, ...more: string[]) => [`Origin: ${origin}`, ...more];
  const token = "Authorization: Bearer x";
  for (const origin of allowed) {
    await expectAnswers(listener, [
      ["GET /", upgradeHeaders({ plus: from(origin, token) }), "101"],
      ["GET /", upgradeHeaders({ plus: from(origin) }), "401 no entry"],
      ["GET /", from(origin), `400 ${CONNECTION}`],
      ["GET /readyz", from(origin), "200"],
      ["GET /nope", from(origin), "404"],
      ["POST /", from(origin, "Content-Length: 0"), `405 ${METHOD}`],
    ]);
  }
  const others = [
    "https://app.example.com:443",
    "http://app.example.com",
    "https://app.example.com/",
    "https://APP.example.com",
    "https://app.example.com.evil.example",
    "https://app.example.com https://evil.example",
    "https://app.example.com, https://app.example.com",
    "http://localhost",
    "null",
    "*",
    "",
  ];
  for (const origin of others) {
    await expectAnswers(listener, [["GET /", upgradeHeaders({ plus: from(origin, token) }), "403"]]);
  }
  const twice = [...from(allowed[0]!), ...from(allowed[0]!)];
  await expectAnswers(listener, [["GET /", upgradeHeaders({ plus: [...twice, token] }), "403"]]);
  await expectAnswers(listener, [["GET /", upgradeHeaders({ plus: [token] }), "101"]]);
});

Deno.test("listen does not begin with an origin that no browser sends", () => {
  assert.throws(() => startListener(null, ["https://app.example.com", "*"]), {
    name: "TypeError",
    message: 'cannot allow the origin "*": there are no wildcards, name the origin of each page',
  });
});

Deno.test("listen asks for authorization last, and passes on what the header said", async () => {
  const asked: (string | null)[] = [];
  await using listener = startListener((authorization) => {
    asked.push(authorization);
    return Promise.resolve(authorization === "Bearer good" ? undefined : "no entry");
  });
  await expectAnswers(listener, [
    ["GET /", ["Host: x", "Authorization: Bearer good"], `400 ${CONNECTION}`],
    ["GET /nope", upgradeHeaders({ plus: ["Authorization: Bearer good"] }), "404"],
  ]);
  assert.deepEqual(asked, []);
  await expectAnswers(listener, [
    ["GET /", upgradeHeaders(), "401 no entry"],
    ["GET /?token=good", upgradeHeaders({ plus: ["Authorization: Bearer bad"] }), "401 no entry"],
    ["GET /", upgradeHeaders({ plus: ["authorization:  Bearer good "] }), "101"],
  ]);
  assert.deepEqual(asked, [null, "Bearer bad", "Bearer good"]);
});

Deno.test("listen survives what it cannot upgrade, and an authorizer and a receiver that fail", async () => {
  const lines: string[] = [];
  let fail = true;
  await using listener = listen({
    address: { hostname: "127.0.0.1", port: 0 },
    authorize: (authorization) => authorization === null ? Promise.resolve(undefined) : Promise.reject(new Error("oh")),
    log: createLog("error", (line) => lines.push(line)),
    onConnection(connection) {
      if (fail) throw new Error("ouch");
      connection.start({ message: () => {}, ended: () => {} });
    },
  });
  const target = rawTarget(listener.url);
  // Two headers that the platform reads in two ways: its own check passes, its upgrade fails.
  const double = upgradeHeaders({ without: "Upgrade", plus: ["Upgrade: h2c", "Upgrade: websocket"] });
  assert.equal(summary(await rawRequest(target, "GET / HTTP/1.1", double)), `400 ${UPGRADE}`);
  const failing = await rawRequest(target, "GET / HTTP/1.1", upgradeHeaders({ plus: ["Authorization: x"] }));
  assert.equal(failing.status, 500);
  {
    using peer = await RawConnection.websocket(target);
    const close = await peer.readFrame();
    assert.deepEqual([close?.opcode, [...close!.payload.subarray(0, 2)]], [OPCODE.close, [0x03, 0xf3]]);
  }
  assert.deepEqual(lines.map((line) => line.match(/error=.*/)?.[0]), ["error=oh", "error=ouch"]);
  fail = false;
  using peer = await RawConnection.websocket(target);
  await peer.sendFrame(OPCODE.ping, "still there?");
  assert.equal((await peer.readFrame())?.opcode, OPCODE.pong);
});

/** A container may have no IPv6. */
const hasIpv6 = Deno.networkInterfaces().some(({ address }) => address === "::1");
if (!hasIpv6) console.log("skipped: listening on IPv6 (this machine has none)");

Deno.test("listen tells its real address, also on IPv6, and calls a peer by it", { ignore: !hasIpv6 }, async () => {
  const labels: string[] = [];
  await using listener = listen({
    address: { hostname: "0:0::1", port: 0 },
    authorize: null,
    log: silentLog,
    onConnection(connection) {
      labels.push(connection.label);
      connection.send("hello");
      connection.start({ message: () => {}, ended: () => {} });
    },
  });
  assert.match(listener.url, /^ws:\/\/\[::1\]:[1-9]\d*$/);
  using peer = await RawConnection.websocket(rawTarget(listener.url));
  await peer.readFrame();
  assert.deepEqual(labels, [`exec-server websocket [::1]:${peer.localAddress.port}`]);
});

Deno.test("listen says in the reference's words why an address cannot be had", async () => {
  await using listener = startListener();
  const again = (address: { hostname: string; port: number }) => () =>
    listen({ address, authorize: null, log: silentLog, onConnection: () => {} });
  assert.throws(again(rawTarget(listener.url)), { message: "Address in use (os error 98)" });
  assert.throws(again({ hostname: "192.0.2.1", port: 0 }), { message: "Address not available (os error 99)" });
});

Deno.test("listen frees its port and drops its connections when it is disposed of", async () => {
  const listener = startListener();
  const target = rawTarget(listener.url);
  using peer = await RawConnection.websocket(target);
  await listener[Symbol.asyncDispose]();
  await peer.readToEnd();
  await assert.rejects(Deno.connect(target), Deno.errors.ConnectionRefused);
});

Deno.test("isLoopback is true for addresses of this machine alone", () => {
  for (const address of ["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"]) assert.ok(isLoopback(address), address);
  for (const address of ["0.0.0.0", "::", "10.0.0.1", "1270.0.0.1", "::ffff:10.0.0.1", "fe80::1"]) {
    assert.ok(!isLoopback(address), address);
  }
});

Deno.test("listen listens where it is told to, and nowhere that a variable tells the platform", async () => {
  const place = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = place.addr;
  place.close();
  for (const how of ["", "duplicate,"]) {
    const variable = `${how}tcp:127.0.0.1:${port}`;
    Deno.env.set("DENO_SERVE_ADDRESS", variable);
    try {
      await using listener = startListener();
      assert.notEqual(new URL(listener.url).port, String(port));
      await expectAnswers(listener, [["GET /readyz", ["Host: x"], "200"]]);
      await assert.rejects(Deno.connect({ hostname: "127.0.0.1", port }), Deno.errors.ConnectionRefused);
      // It is the user's, and his programs' to inherit.
      assert.equal(Deno.env.get("DENO_SERVE_ADDRESS"), variable);
    } finally {
      Deno.env.delete("DENO_SERVE_ADDRESS");
    }
  }
});

Deno.test("listen leaves nothing in the environment that programs would inherit", async () => {
  await using listener = startListener();
  using peer = await RawConnection.websocket(rawTarget(listener.url));
  await peer.sendFrame(OPCODE.ping, "open?");
  assert.equal((await peer.readFrame())?.opcode, OPCODE.pong);
  assert.equal(Deno.env.get("DENO_USE_WRITEV"), undefined);
});
