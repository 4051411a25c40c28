import assert from "node:assert/strict";
import { connect } from "../../lib/client/connect.ts";
import { tokenFile } from "../../lib/client/node/token_file.ts";
import { websocketCarrier, type WebSocketCarrierOptions } from "../../lib/client/websocket_carrier.ts";
import { Recorder } from "../support/recorder.ts";
import { closeTcp, RawWebSocketServer, type Upgrade } from "./support/raw_websocket_server.ts";

const never = new AbortController().signal;

function open(url: string, options?: WebSocketCarrierOptions) {
  return websocketCarrier(url, options).open({ signal: never });
}

/** Opens, hears what the server does, and closes if that is left to us. */
async function end(server: RawWebSocketServer, path = "/"): Promise<Recorder> {
  const { connection, gone } = await open(server.url + path);
  const heard = new Recorder(connection);
  await heard.end();
  await gone;
  return heard;
}

Deno.test("a WebSocket is dialled with path and query unchanged, and neither Origin nor subprotocol", async () => {
  const upgrades: Upgrade[] = [];
  await using server = new RawWebSocketServer(async (upgrade) => {
    upgrades.push(upgrade);
    await upgrade.accept();
  });
  const url = `${server.url}/a%20b/c?token=x&role=other`;
  const carrier = websocketCarrier(url);
  const { connection, gone } = await carrier.open({ signal: never });
  assert.equal(carrier.label, `exec-server websocket ${url}`);
  assert.equal(connection.label, carrier.label);
  assert.equal(connection.malformedPrefix, `failed to parse websocket JSON-RPC message from ${carrier.label}: `);
  assert.equal(carrier.renewable, true);
  assert.equal(carrier.resume?.pauseMs("session", 7), 100);
  const [{ requestLine, headers, tcp }] = upgrades as [Upgrade];
  assert.equal(requestLine, "GET /a%20b/c?token=x&role=other HTTP/1.1");
  for (const name of ["origin", "sec-websocket-protocol", "authorization"]) assert.equal(headers.get(name), undefined);
  closeTcp(tcp);
  new Recorder(connection);
  await gone;
});

Deno.test("headers and token go with every attempt, and the token is asked for each time", async () => {
  const seen: (string | undefined)[][] = [];
  await using server = new RawWebSocketServer(async ({ headers, answer }) => {
    seen.push([headers.get("x-one"), headers.get("authorization")]);
    await answer("HTTP/1.1 503 Busy\r\n\r\n");
  });
  let number = 0;
  const carrier = websocketCarrier(server.url, { headers: { "X-One": "1" }, token: () => `t${++number}` });
  for (let i = 0; i < 2; i++) {
    await assert.rejects(carrier.open({ signal: never }), {
      kind: "connect",
      retryable: true,
      message: `failed to connect to exec-server websocket \`${server.url}\`: HTTP error: 503 Service Unavailable`,
    });
  }
  assert.deepEqual(seen, [["1", "Bearer t1"], ["1", "Bearer t2"]]);
});

Deno.test("a token file is read again before every attempt; what is wrong with it is said", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const seen: (string | undefined)[] = [];
    await using server = new RawWebSocketServer(async ({ headers, answer }) => {
      seen.push(headers.get("authorization"));
      await answer("HTTP/1.1 401 No\r\n\r\n");
    });
    const token = tokenFile(`${dir}/token`);
    const refused = async (reason: string) => {
      const message = `failed to configure exec-server websocket: cannot get the token: ${dir}/token${reason}`;
      await assert.rejects(open(server.url, { token }), { kind: "configuration", retryable: true, message });
    };
    await refused(": No such file or directory (os error 2)");
    await Deno.mkdir(`${dir}/token`);
    await refused(": Is a directory (os error 21)");
    await Deno.remove(`${dir}/token`);
    for (
      const [text, reason] of [
        ["", " is empty"],
        [" \n", " is empty"],
        ["one\ntwo\n", " has more than one line"],
        ["x".repeat(65_537), " is larger than 65536 bytes"],
      ] as const
    ) {
      await Deno.writeTextFile(`${dir}/token`, text);
      await refused(reason);
    }
    assert.deepEqual(seen, []);
    for (const text of ["first\n", " sécond \n"]) {
      await Deno.writeTextFile(`${dir}/token`, text);
      await assert.rejects(open(server.url, { token }), /: HTTP error: 401 Unauthorized$/);
    }
    // A character a byte: the header carries UTF-8.
    assert.deepEqual(seen, ["Bearer first", "Bearer s\xc3\xa9cond"]);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("what is no token is not sent as one, and a token that never comes can be given up", async () => {
  for (const [token, is] of [[undefined, "undefined"], [null, "null"], [5, "number"]] as const) {
    await assert.rejects(open("ws://127.0.0.1:9", { token: () => token as unknown as string }), {
      kind: "configuration",
      message: `failed to configure exec-server websocket: cannot get the token: it is ${is}, not a text`,
    });
  }
  const giveUp = new AbortController();
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const token = () => {
    resolve();
    return new Promise<string>(() => {});
  };
  const connecting = connect("ws://127.0.0.1:9", { token, signal: giveUp.signal });
  await asked;
  giveUp.abort(new Error("no more"));
  await assert.rejects(connecting, { message: "no more" });
});

Deno.test("a user name and a password in the URL are not sent", async () => {
  const seen: (string | undefined)[] = [];
  await using server = new RawWebSocketServer(async ({ headers, answer }) => {
    seen.push(headers.get("authorization"), headers.get("host"));
    await answer("HTTP/1.1 401 No\r\n\r\n");
  });
  await assert.rejects(open(server.url.replace("//", "//user:secret@")), /: HTTP error: 401 Unauthorized$/);
  assert.deepEqual(seen, [undefined, server.url.slice("ws://".length)]);
});

Deno.test("headers are kept from crossing a network in the clear", async () => {
  for (const url of ["ws://example.com/", "ws://10.0.0.1:80", "ws://[::2]/", "ws://128.0.0.1", "ws://localhost.com"]) {
    for (const options of [{ token: "" }, { headers: { "x-a": "" } }]) {
      await assert.rejects(open(url, options), {
        kind: "protocol",
        retryable: false,
        message: "exec-server protocol error: exec-server WebSocket headers require wss:// or a loopback destination",
      });
    }
  }
});

Deno.test("a header that cannot be sent is named and its value is not told", async () => {
  for (const token of ["a\nb", "\0", "\x7f"]) {
    await assert.rejects(open("ws://127.0.0.1:9", { token }), {
      kind: "protocol",
      message: "exec-server protocol error: invalid value for exec-server WebSocket header `authorization`",
    });
  }
  await assert.rejects(open("ws://127.0.0.1:9", { headers: { "a b": "1" } }), {
    message: 'exec-server protocol error: invalid exec-server WebSocket header name "a b"',
  });
  for (const name of ["Host", "connection", "Sec-WebSocket-Protocol", "content-length"]) {
    await assert.rejects(open("ws://127.0.0.1:9", { headers: { [name]: "1" } }), {
      message: "exec-server protocol error: " +
        `exec-server WebSocket header \`${name.toLowerCase()}\` cannot be chosen: it belongs to the upgrade`,
    });
  }
});

Deno.test("what cannot be a WebSocket URL fails when it is dialled, in the reference's words", async () => {
  const causes = {
    foo: "IO error: invalid WebSocket URL",
    "http://127.0.0.1:9": "URL error: URL scheme not supported",
  };
  for (const [url, cause] of Object.entries(causes)) {
    await assert.rejects(open(url), {
      kind: "connect",
      message: `failed to connect to exec-server websocket \`${url}\`: ${cause}`,
    });
  }
});

Deno.test("a URL of the relay's old framing is refused in words", async () => {
  for (const query of ["role=harness", "a=1&role=harness", "role=other&r%6Fle=harness"]) {
    await assert.rejects(open(`ws://127.0.0.1:9/?${query}`), {
      kind: "configuration",
      retryable: false,
      message: "failed to configure exec-server websocket: a URL with role=harness asks for the relay's unencrypted " +
        "framing, which is not supported: give the registry and the environment's id instead (connectRelay)",
    });
  }
});

Deno.test("an upgrade that fails says why", async () => {
  await using server = new RawWebSocketServer(async ({ requestLine, tcp, answer }) => {
    if (requestLine.includes("/404")) await answer("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    else if (requestLine.includes("/299")) await answer("HTTP/1.1 299 Odd\r\nContent-Length: 0\r\n\r\n");
    else closeTcp(tcp);
  });
  const refused = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  refused.close();
  const causes = {
    [`${server.url}/404?a=b`]: "HTTP error: 404 Not Found",
    [`${server.url}/299`]: "HTTP error: 299 <unknown status code>",
    [`${server.url}/nothing`]: "WebSocket protocol error: Handshake not finished",
    [`ws://127.0.0.1:${refused.addr.port}/`]: "IO error: Connection refused (os error 111)",
    "ws://no-such-host.invalid/": "IO error: failed to lookup address information: Name or service not known",
  };
  for (const [url, cause] of Object.entries(causes)) {
    await assert.rejects(open(url), {
      kind: "connect",
      retryable: true,
      message: `failed to connect to exec-server websocket \`${url}\`: ${cause}`,
    });
  }
});

Deno.test("an upgrade that is not answered in time fails, and its socket is given up", async () => {
  const ended = Promise.withResolvers<void>();
  await using server = new RawWebSocketServer(async ({ tcp }) => {
    if (await tcp.read(new Uint8Array(1)) === null) ended.resolve();
  });
  await assert.rejects(open(server.url, { connectTimeoutMs: 30 }), {
    kind: "connectTimeout",
    retryable: true,
    message: `timed out connecting to exec-server websocket \`${server.url}\` after 30ms`,
  });
  await ended.promise;
});

Deno.test("a time to connect that no timer can wait is refused by name", async () => {
  for (const ms of [Infinity, NaN, -1, 2 ** 31]) {
    await assert.rejects(open("ws://127.0.0.1:1", { connectTimeoutMs: ms }), {
      name: "RangeError",
      message: `connectTimeoutMs must be from 0 to 2147483647 milliseconds, not ${ms}`,
    });
  }
});

Deno.test("an attempt that is given up fails with the signal's reason, and its socket is given up", async () => {
  const asked = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  await using server = new RawWebSocketServer(async ({ tcp }) => {
    asked.resolve();
    if (await tcp.read(new Uint8Array(1)) === null) ended.resolve();
  });
  const giveUp = new AbortController();
  const attempt = websocketCarrier(server.url).open({ signal: giveUp.signal });
  const rejected = assert.rejects(attempt, { message: "no more" });
  await asked.promise;
  giveUp.abort(new Error("no more"));
  await rejected;
  await ended.promise;
  await assert.rejects(websocketCarrier(server.url).open({ signal: giveUp.signal }), { message: "no more" });
});

Deno.test("the first message may come with the answer to the upgrade", async () => {
  await using server = new RawWebSocketServer(async ({ tcp, accept }) => {
    await accept();
    await tcp.write(new Uint8Array([0x81, 2, 0x7b, 0x7d, 0x88, 0]));
  });
  const heard = await end(server);
  assert.deepEqual(heard.messages, ["{}"]);
});

Deno.test("the end of a connection says what is known: closed by the peer, or broken and how", async () => {
  await using server = new RawWebSocketServer(async ({ requestLine, tcp, accept }) => {
    await accept();
    if (requestLine.includes("/closed")) await tcp.write(new Uint8Array([0x88, 6, 0x03, 0xf0, 0x67, 0x6f, 0x6e, 0x65]));
    else if (requestLine.includes("/bits")) await tcp.write(new Uint8Array([0xf1, 1, 0x61]));
    else closeTcp(tcp);
  });
  const closed = (await end(server, "/closed")).ends;
  assert.deepEqual(closed, [{ reason: "closed by the peer with code 1008: gone" }]);
  const failures = {
    "/lost": "WebSocket protocol error: Connection reset without closing handshake",
    "/bits": "WebSocket protocol error: Reserved bits are not zero",
  };
  for (const [path, failure] of Object.entries(failures)) {
    const { ends } = await end(server, path);
    assert.equal(
      ends[0]?.failure,
      `failed to read websocket JSON-RPC message from exec-server websocket ${server.url}${path}: ${failure}`,
    );
  }
});

Deno.test("a server that does not answer the end holds nobody up for ever", async () => {
  await using server = new RawWebSocketServer(({ accept }) => accept());
  const { connection, gone } = await open(server.url);
  const heard = new Recorder(connection);
  connection.close();
  assert.deepEqual(heard.ends, [{ reason: "closed by us with code 1000" }]);
  await gone;
});

Deno.test("where the platform's WebSocket is not the one to use, another is opened with the headers", async () => {
  await using server = new RawWebSocketServer(async ({ tcp, accept }) => {
    await accept();
    await tcp.read(new Uint8Array(16));
    closeTcp(tcp);
  });
  const dialled: unknown[] = [];
  const { connection, gone } = await open(`${server.url}/#fragment`, {
    token: "t",
    openSocket(url, headers) {
      dialled.push(url, headers);
      return new WebSocket(url);
    },
  });
  assert.deepEqual(dialled, [`${server.url}/`, { authorization: "Bearer t" }]);
  connection.close();
  await gone;
});
