import assert from "node:assert/strict";
import { waitingClock } from "../../../lib/clock.ts";
import type { DialError } from "../../../lib/relay/socket/relay_socket.ts";
import { openWs, type WsDialOptions } from "../../../lib/relay/socket/ws_dial.ts";
import { wsDial } from "../../../lib/relay/socket/ws_socket.ts";
import { closeTcp, RawWebSocketServer, type Upgrade } from "../../client/support/raw_websocket_server.ts";

const signal = new AbortController().signal;
const OPTIONS: WsDialOptions = {
  signal,
  timeoutMs: 10_000,
  maxMessageBytes: 1024,
  closeTimeoutMs: 1000,
  clock: waitingClock,
};

/** Why a dial fails when its upgrade is answered in this way. */
async function failure(serve: (upgrade: Upgrade) => void | Promise<void>): Promise<Partial<DialError>> {
  await using server = new RawWebSocketServer(serve);
  return await openWs(server.url, OPTIONS).then(() => assert.fail("it is open"), told);
}

function told({ name, message, failure, status, rejection }: DialError): Partial<DialError> {
  return {
    name,
    message,
    failure,
    ...(status === undefined ? {} : { status }),
    ...(rejection === undefined ? {} : { rejection }),
  };
}

const CONNECTION_FAILED = { name: "DialError", message: "connection failed", failure: "connection failed" };

Deno.test("a dial sends path and query untouched, the headers given, and no other than the upgrade's", async () => {
  const requests: Pick<Upgrade, "requestLine" | "headers">[] = [];
  await using server = new RawWebSocketServer(async (upgrade) => {
    requests.push(upgrade);
    await upgrade.accept();
  });
  const headers = { "x-request-id": "req_1" };
  const url = server.url.replace("//", "//user:password@") + '/a/../b/%2e%2e/?role=x&sig=%zz"{}#fragment';
  const { ws, gone } = await openWs(url, { ...OPTIONS, headers });
  ws.terminate();
  await gone;
  const [request] = requests;
  assert.equal(request!.requestLine, 'GET /a/../b/%2e%2e/?role=x&sig=%zz"{} HTTP/1.1');
  const { "sec-websocket-key": key, ...others } = Object.fromEntries(request!.headers);
  assert.equal(Uint8Array.fromBase64(key!).length, 16);
  assert.deepEqual(others, {
    "connection": "Upgrade",
    "host": new URL(server.url).host,
    "sec-websocket-version": "13",
    "upgrade": "websocket",
    "x-request-id": "req_1",
  });
});

Deno.test("a refused upgrade tells its status, and a reason only if it is a known one", async () => {
  const refused = (status: number) => ({
    name: "DialError",
    message: `upgrade refused with status ${status}`,
    failure: "upgrade refused",
    status,
  });
  const answer = (head: string) => failure(({ answer }) => answer(`HTTP/1.1 ${head}\r\nContent-Length: 0\r\n\r\n`));
  const reason = (text: string) => answer(`403 No\r\nX-Codex-Rendezvous-Rejection-Reason: ${text}`);
  assert.deepEqual(await answer("401 secret"), refused(401));
  assert.deepEqual(await answer("200 OK"), refused(200));
  assert.deepEqual(await answer("302 Found\r\nLocation: ws://127.0.0.1:1/"), refused(302));
  assert.deepEqual(await answer("503 No"), refused(503));
  assert.deepEqual(await reason("pod_draining"), { ...refused(403), rejection: "pod_draining" });
  for (
    const text of [
      "secret",
      "Expired",
      "expired, pod_draining",
      "toString",
      "",
      "expired\r\nX-Codex-Rendezvous-Rejection-Reason: x",
    ]
  ) {
    assert.deepEqual(await reason(text), refused(403), text);
  }
});

Deno.test("an interim answer is a refusal: others could follow for ever", async () => {
  for (const status of [100, 103, 199]) {
    const told = await failure(({ answer }) => answer(`HTTP/1.1 ${status} Wait\r\nLink: secret\r\n\r\n`.repeat(3)));
    assert.deepEqual([told.failure, told.status], ["upgrade refused", status]);
  }
});

Deno.test("the body of a refusal is not waited for", async () => {
  const ended = Promise.withResolvers<void>();
  await using server = new RawWebSocketServer(async ({ tcp }) => {
    const head = "HTTP/1.1 500 No\r\nContent-Length: 1000000\r\n\r\nthe beginning";
    await tcp.write(new TextEncoder().encode(head));
    while (await tcp.read(new Uint8Array(1024)).catch(() => null) !== null);
    tcp.close();
    ended.resolve();
  });
  await assert.rejects(openWs(server.url, OPTIONS), { status: 500 });
  await ended.promise;
});

Deno.test("an answer that is no proper upgrade is a failed connection", async () => {
  const key = (headers: Upgrade["headers"]) =>
    new TextEncoder().encode(`${headers.get("sec-websocket-key")}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
  const accept = async (headers: Upgrade["headers"]) =>
    new Uint8Array(await crypto.subtle.digest("SHA-1", key(headers))).toBase64();
  const upgraded = (...lines: string[]) =>
    failure(async ({ headers, answer }) => {
      const own = lines.map((line) => line.replace("ACCEPT", "Sec-WebSocket-Accept: "));
      const accepted = await accept(headers);
      const head = own.map((line) => line.endsWith("Accept: ") ? `${line}${accepted}` : line);
      await answer(["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", ...head, "", ""].join("\r\n"));
    });
  assert.deepEqual(await upgraded("Upgrade: websocket"), CONNECTION_FAILED);
  assert.deepEqual(await upgraded("Upgrade: websocket", "Sec-WebSocket-Accept: AAAA"), CONNECTION_FAILED);
  assert.deepEqual(await upgraded("Upgrade: h2c", "ACCEPT"), CONNECTION_FAILED);
  assert.deepEqual(await upgraded("Upgrade: websocket", "ACCEPT", "Sec-WebSocket-Protocol: x"), CONNECTION_FAILED);
  const extension = "Sec-WebSocket-Extensions: permessage-deflate";
  assert.deepEqual(await upgraded("Upgrade: websocket", "ACCEPT", extension), CONNECTION_FAILED);
  assert.deepEqual(await failure(({ answer }) => answer("220 mail.example ESMTP\r\n")), CONNECTION_FAILED);
  assert.deepEqual(await failure(({ answer }) => answer("")), CONNECTION_FAILED);
  assert.deepEqual(await failure(({ answer }) => answer("HTTP/1.1 403")), CONNECTION_FAILED);
});

Deno.test("a head without end is not read for ever", async () => {
  const endless = failure(async ({ tcp }) => {
    const line = new TextEncoder().encode(`X-Filler: ${"x".repeat(1000)}\r\n`);
    await tcp.write(new TextEncoder().encode("HTTP/1.1 403 No\r\n"));
    try {
      while (true) await tcp.write(line);
    } catch {
      closeTcp(tcp);
    }
  });
  assert.deepEqual(await endless, CONNECTION_FAILED);
});

Deno.test("a peer that resets the connection during the upgrade is a failed connection", async () => {
  await using server = new RawWebSocketServer(async ({ tcp, answer }) => {
    await tcp.write(new TextEncoder().encode("HTTP/1.1 101 Switching"));
    await answer("");
  });
  await assert.rejects(openWs(server.url, OPTIONS), CONNECTION_FAILED);
});

Deno.test("nobody listening is a failed connection", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  listener.close();
  await assert.rejects(openWs(`ws://127.0.0.1:${listener.addr.port}/secret`, OPTIONS), CONNECTION_FAILED);
});

Deno.test("what is no WebSocket URL, or headers that cannot be sent, are not dialled", async () => {
  const unusable = { name: "DialError", message: "unusable url", failure: "unusable url" };
  for (const url of ["", "http://127.0.0.1/", "ws://127.0.0.1:99999/", "ws://127.0.0.1/a b", "secret"]) {
    await assert.rejects(wsDial(url, { signal, timeoutMs: 1000 }), unusable);
  }
  const options = { signal, timeoutMs: 1000, headers: { "x-bad": "a\r\nb: c" } };
  await assert.rejects(wsDial("ws://127.0.0.1:1/", options), unusable);
});

for (const scheme of ["ws", "wss"]) {
  Deno.test(`a ${scheme} peer that says nothing is given up after a while, or with the signal`, async () => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const url = `${scheme}://127.0.0.1:${listener.addr.port}/`;
    const timedOut = { name: "DialError", message: "upgrade timeout", failure: "upgrade timeout" };
    await assert.rejects(openWs(url, { ...OPTIONS, timeoutMs: 20 }), timedOut);

    const aborter = new AbortController();
    const dialled = openWs(url, { ...OPTIONS, signal: aborter.signal });
    const [first, second] = [await listener.accept(), await listener.accept()];
    aborter.abort(new Error("not wanted any more"));
    await assert.rejects(dialled, { message: "not wanted any more" });
    for (const tcp of [first, second]) {
      while (await tcp.read(new Uint8Array(1024)).catch(() => null) !== null);
      tcp.close();
    }
    listener.close();
    await assert.rejects(openWs(url, { ...OPTIONS, signal: aborter.signal }), { message: "not wanted any more" });
  });
}

Deno.test("a dial can be given up while its TCP connection is being made", async () => {
  const aborter = new AbortController();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const dialled = openWs(`ws://127.0.0.1:${listener.addr.port}/`, { ...OPTIONS, signal: aborter.signal });
  aborter.abort(new Error("not wanted any more"));
  await assert.rejects(dialled, { message: "not wanted any more" });
  listener.close();
});
