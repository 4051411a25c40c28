import assert from "node:assert/strict";
import { Bindings } from "./bindings.ts";
import { answerByPath } from "./http_answers.ts";
import { HttpPeer } from "./http_peer.ts";
import { Mismatch } from "./mismatch.ts";
import { Workspace } from "./workspace.ts";

async function withPeer(body: (peer: HttpPeer, bindings: Bindings) => Promise<void>): Promise<void> {
  await using workspace = await Workspace.create();
  await using peer = new HttpPeer(answerByPath);
  const bindings = new Bindings(workspace);
  bindings.set("port", String(peer.port));
  await body(peer, bindings);
}

/** Sends text, and gives what comes until the peer closes or `until` has come. */
async function talk(peer: HttpPeer, sent: string, until?: string): Promise<string> {
  using connection = await Deno.connect({ port: peer.port });
  await connection.write(new TextEncoder().encode(sent));
  const buffer = new Uint8Array(1024);
  let received = "";
  while (until === undefined || !received.includes(until)) {
    const count = await connection.read(buffer);
    if (count === null) break;
    received += new TextDecoder("latin1").decode(buffer.subarray(0, count));
  }
  return received;
}

Deno.test("the peer answers by path, several requests on one connection", () =>
  withPeer(async (peer) => {
    const requests = "POST /ok HTTP/1.1\r\nContent-Length: 2\r\n\r\nhiHEAD /ok HTTP/1.1\r\n\r\nGET /x HTTP/1.1\r\n\r\n";
    const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 5\r\n\r\n";
    const last = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\ndefault";
    assert.equal(await talk(peer, requests, "default"), `${head}hello${head}${last}`);
  }));

Deno.test("the peer breaks off where a recording wants it", () =>
  withPeer(async (peer) => {
    assert.equal(await talk(peer, "GET /drop HTTP/1.1\r\n\r\n"), "");
    const cut = await talk(peer, "GET /abort HTTP/1.1\r\n\r\n");
    assert.equal(cut, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npartial");
  }));

Deno.test("the peer compares the lines of a head in their order, the body, and how many requests there were", () =>
  withPeer(async (peer, bindings) => {
    const expected = { head: ["POST /ok HTTP/1.1", "host: 127.0.0.1:<port>", "content-length: 1"], body: "b" };
    const send = (text: string) => talk(peer, text.replace("<port>", String(peer.port)), "hello");
    const same = "POST /ok HTTP/1.1\r\nhost: 127.0.0.1:<port>\r\ncontent-length: 1\r\n\r\nb";
    await send(same);
    peer.expectRequest(expected, bindings);
    peer.finishRequests();
    const others = [
      same.replace("POST", "PUT"),
      same.replace("host", "Host"),
      same.replace("\r\n\r\n", "\r\nx: 1\r\n\r\n"),
      "POST /ok HTTP/1.1\r\ncontent-length: 1\r\nhost: 127.0.0.1:<port>\r\n\r\nb",
      same.replace("\r\n\r\nb", "\r\n\r\nc"),
    ];
    for (const other of others) {
      await send(other);
      assert.throws(() => peer.expectRequest(expected, bindings), Mismatch, other);
    }
    assert.throws(() => peer.expectRequest(expected, bindings), Mismatch);
    await send(same);
    await send(same);
    assert.throws(() => peer.expectRequests(1), Mismatch);
    peer.expectRequest(expected, bindings);
    assert.throws(() => peer.finishRequests(), Mismatch);
  }));
