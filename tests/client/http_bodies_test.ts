import assert from "node:assert/strict";
import { disconnected } from "../../lib/client/client_error.ts";
import { collectGarbage } from "../support/collect_garbage.ts";
import { HttpServer } from "./support/http_server.ts";

const ok = () => ({ status: 200, headers: [] });
const decoder = new TextDecoder();

Deno.test("each way in which a body fails has its words, behind what came before", async () => {
  const stream = "exec-server protocol error: http response stream `http-1`";
  const failures: readonly [(server: HttpServer) => void, { kind: string; message: string }][] = [
    [(server) => server.send("", { seq: 3 }), { kind: "protocol", message: `${stream} received seq 3, expected 2` }],
    [(server) => server.send("", { seq: 1 }), { kind: "protocol", message: `${stream} received seq 1, expected 2` }],
    [
      (server) => server.send("lost", { error: "error decoding response body" }),
      { kind: "protocol", message: `${stream} failed: error decoding response body` },
    ],
    [
      (server) => server.bodies.disconnected(disconnected("reset")),
      { kind: "disconnected", message: `${stream} failed: exec-server transport disconnected: reset` },
    ],
    [
      (server) => server.bodies.failed(disconnected("gave up")),
      { kind: "disconnected", message: `${stream} failed: exec-server transport disconnected: gave up` },
    ],
  ];
  for (const [fail, failure] of failures) {
    const server = new HttpServer(ok);
    const reader = (await server.fetch("http://h/")).body!.getReader();
    server.send("before");
    fail(server);
    server.send("after", { seq: 2 });
    assert.equal(decoder.decode((await reader.read()).value), "before");
    await assert.rejects(reader.read(), { name: "ClientError", ...failure });
    const waiting = new HttpServer(ok);
    const read = (await waiting.fetch("http://h/")).body!.getReader();
    const first = read.read();
    waiting.send("before");
    await first;
    const next = read.read();
    fail(waiting);
    await assert.rejects(next, failure);
  }
});

Deno.test("a body that nobody reads fails at its 257th delta; one that is read does not", async () => {
  const server = new HttpServer(ok);
  const unread = await server.fetch("http://h/");
  for (let count = 0; count < 256; count++) server.send("x");
  server.send("y");
  const reader = unread.body!.getReader();
  for (let count = 0; count < 256; count++) assert.equal((await reader.read()).value?.length, 1);
  const message =
    "exec-server protocol error: http response stream `http-1` failed: body delta channel filled before delivery";
  await assert.rejects(reader.read(), { message });
  const read = (await server.fetch("http://h/")).body!.getReader();
  for (let seq = 1; seq <= 1000; seq++) {
    const next = read.read();
    server.send("x", { id: "http-2", seq });
    assert.equal((await next).value?.length, 1);
  }
});

Deno.test("16 MiB may wait in all; reading or giving up makes room", async () => {
  const server = new HttpServer(ok);
  const mebibyte = new Uint8Array(1024 * 1024);
  const responses: Response[] = [];
  for (let count = 1; count <= 4; count++) responses.push(await server.fetch("http://h/"));
  for (let seq = 1; seq <= 16; seq++) {
    server.sendBytes(mebibyte, { id: `http-${seq % 2 + 1}`, seq: Math.ceil(seq / 2) });
  }
  server.sendBytes(new Uint8Array(1), { id: "http-3", seq: 1 });
  const message =
    "exec-server protocol error: http response stream `http-3` failed: queued body deltas exceed 16777216 bytes";
  await assert.rejects(responses[2]!.text(), { message });
  const reader = responses[0]!.body!.getReader();
  assert.equal((await reader.read()).value?.length, mebibyte.length);
  server.sendBytes(mebibyte, { id: "http-4", seq: 1 });
  await responses[1]!.body!.cancel();
  for (let seq = 2; seq <= 9; seq++) server.sendBytes(mebibyte, { id: "http-4", seq, done: seq === 9 });
  assert.equal((await responses[3]!.arrayBuffer()).byteLength, 9 * mebibyte.length);
});

Deno.test("a response that is dropped unread gives its room back", async () => {
  const server = new HttpServer(ok);
  const gone: string[] = [];
  const watch = new FinalizationRegistry((name: string) => gone.push(name));
  const mebibyte = new Uint8Array(1024 * 1024);
  await (async () => {
    const response = await server.fetch("http://h/");
    for (let seq = 1; seq <= 16; seq++) server.sendBytes(mebibyte, { seq });
    watch.register(response, "response");
  })();
  const kept = await server.fetch("http://h/");
  await collectGarbage(() => gone.length > 0);
  server.sendBytes(mebibyte, { id: "http-2", seq: 1, done: true });
  assert.equal((await kept.arrayBuffer()).byteLength, mebibyte.length);
});

Deno.test("a delta of more than 1 MiB ends the connection, whoever it is for", () => {
  const server = new HttpServer(ok);
  assert.throws(() => server.sendBytes(new Uint8Array(1024 * 1024 + 1), { id: "unknown" }), {
    kind: "protocol",
    message: "exec-server protocol error: http response body delta exceeds 1048576 bytes",
  });
});
