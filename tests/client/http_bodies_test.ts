import assert from "node:assert/strict";
import { disconnected, serverError } from "../../lib/client/client_error.ts";
import { EVENT_OVERHEAD_BYTES, MAX_BODY_DELTAS, MAX_QUEUED_BODY_BYTES } from "../../lib/client/limits.ts";
import { collectGarbage } from "../support/collect_garbage.ts";
import { idle } from "../support/scripted_server.ts";
import { HttpServer } from "./support/http_server.ts";

const ok = () => ({ status: 200, headers: [] });
const decoder = new TextDecoder();
const BYTE = new Uint8Array(1);
const MEBIBYTE = new Uint8Array(1024 * 1024);
/** Whole deltas of that size that may wait. */
const MOST_MEBIBYTES = Math.floor(MAX_QUEUED_BODY_BYTES / (MEBIBYTE.length + EVENT_OVERHEAD_BYTES));

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

Deno.test("a body that nobody reads fails when too many deltas have come; one that is read does not", async () => {
  const server = new HttpServer(ok);
  const unread = await server.fetch("http://h/");
  for (let count = 0; count < MAX_BODY_DELTAS; count++) server.sendBytes(BYTE);
  server.sendBytes(BYTE);
  const message =
    "exec-server protocol error: http response stream `http-1` failed: body delta channel filled before delivery";
  const reader = unread.body!.getReader();
  for (let count = 0; count < MAX_BODY_DELTAS; count++) assert.equal((await reader.read()).value?.length, 1);
  await assert.rejects(reader.read(), { message });
  const read = (await server.fetch("http://h/")).body!.getReader();
  for (let seq = 1; seq <= 1000; seq++) {
    const next = read.read();
    server.send("x", { id: "http-2", seq });
    assert.equal((await next).value?.length, 1);
  }
});

Deno.test("256 MiB may wait in all; reading or giving up makes room", async () => {
  const server = new HttpServer(ok);
  const responses: Response[] = [];
  for (let count = 1; count <= 4; count++) responses.push(await server.fetch("http://h/"));
  for (let seq = 1; seq <= MOST_MEBIBYTES; seq++) {
    server.sendBytes(MEBIBYTE, { id: `http-${seq % 2 + 1}`, seq: Math.ceil(seq / 2) });
  }
  server.sendBytes(MEBIBYTE, { id: "http-3", seq: 1 });
  const message =
    "exec-server protocol error: http response stream `http-3` failed: queued body deltas exceed 268435456 bytes";
  await assert.rejects(responses[2]!.text(), { message });
  const reader = responses[0]!.body!.getReader();
  assert.equal((await reader.read()).value?.length, MEBIBYTE.length);
  server.sendBytes(MEBIBYTE, { id: "http-4", seq: 1 });
  await responses[1]!.body!.cancel();
  for (let seq = 2; seq <= 99; seq++) server.sendBytes(MEBIBYTE, { id: "http-4", seq, done: seq === 99 });
  assert.equal((await responses[3]!.arrayBuffer()).byteLength, 99 * MEBIBYTE.length);
});

Deno.test("a response that is dropped unread gives its room back, also when its signal lives on", async () => {
  const server = new HttpServer(ok, {}, true);
  const { signal } = new AbortController();
  await (async () => {
    await server.fetch("http://h/", { signal });
    for (let seq = 1; seq <= MOST_MEBIBYTES; seq++) server.sendBytes(MEBIBYTE, { seq });
  })();
  const kept = await server.fetch("http://h/", { signal });
  await collectGarbage(() => server.told.length === 2);
  assert.deepEqual(server.told, [["holdBody", "http-1", true], ["cancelBody", "http-1"]]);
  server.sendBytes(MEBIBYTE, { id: "http-2", seq: 1, done: true });
  assert.equal((await kept.arrayBuffer()).byteLength, MEBIBYTE.length);
});

Deno.test("a server that can be told holds a body while more has come than was read", async () => {
  const server = new HttpServer(ok, {}, true);
  const reader = (await server.fetch("http://h/")).body!.getReader();
  for (let count = 0; count < 3; count++) server.sendBytes(MEBIBYTE);
  await idle();
  assert.deepEqual(server.told, []);
  for (let count = 0; count < 3; count++) server.sendBytes(MEBIBYTE);
  await idle();
  assert.deepEqual(server.told, [["holdBody", "http-1", true]]);
  for (let count = 0; count < 5; count++) await reader.read();
  await idle();
  assert.equal(server.told.length, 1);
  await reader.read();
  await idle();
  assert.deepEqual(server.told.slice(1), [["holdBody", "http-1", false]]);
  server.send("", { done: true });
  assert.equal((await reader.read()).done, true);
  await idle();
  assert.equal(server.told.length, 2);
});

Deno.test("a server that can be told hears of bodies that nobody wants any more, and of none that ended", async () => {
  const cancelled = async (act: (server: HttpServer) => Promise<unknown>) => {
    const server = new HttpServer(ok, {}, true);
    await act(server);
    await idle();
    return server.told.length > 0;
  };
  const aborter = new AbortController();
  assert.ok(await cancelled(async (server) => await (await server.fetch("http://h/")).body!.cancel()));
  assert.ok(
    await cancelled((server) => server.fetch("http://h/", { signal: aborter.signal }).then(() => aborter.abort())),
  );
  assert.ok(
    await cancelled(async (server) => {
      await server.fetch("http://h/");
      server.send("x", { seq: 2 });
    }),
  );
  assert.ok(
    !await cancelled(async (server) => {
      const { body } = await server.fetch("http://h/");
      server.send("x", { done: true });
      await body!.cancel();
    }),
  );
  assert.ok(
    !await cancelled(async (server) => {
      const { body } = await server.fetch("http://h/");
      server.bodies.disconnected(disconnected("reset"));
      await body!.cancel();
    }),
  );
  const asking = new AbortController();
  const slow = new HttpServer(
    (_, signal) => {
      queueMicrotask(() => asking.abort(new Error("enough")));
      return new Promise((_, reject) => signal!.addEventListener("abort", () => reject(signal!.reason)));
    },
    {},
    true,
  );
  await assert.rejects(slow.fetch("http://h/", { signal: asking.signal }), { message: "enough" });
  await idle();
  assert.deepEqual(slow.told, [["cancelBody", "http-1"]]);
  const refusing = new HttpServer(() => Promise.reject(serverError(-32603, "no")), {}, true);
  await assert.rejects(refusing.fetch("http://h/"), { kind: "server" });
  await idle();
  assert.deepEqual(refusing.told, []);
});

Deno.test("a delta of more than 1 MiB ends the connection, whoever it is for", () => {
  const server = new HttpServer(ok);
  assert.throws(() => server.sendBytes(new Uint8Array(1024 * 1024 + 1), { id: "unknown" }), {
    kind: "protocol",
    message: "exec-server protocol error: http response body delta exceeds 1048576 bytes",
  });
});
