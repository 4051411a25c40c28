import assert from "node:assert/strict";
import { ClientError } from "../../lib/client/client_error.ts";
import type { ProcessEvent } from "../../lib/client/process.ts";
import { idle } from "../support/scripted_server.ts";
import { closed, exited, output, readOf } from "./support/events.ts";
import { ProcessClient } from "./support/process_client.ts";

const DISCONNECTED = { name: "ClientError", kind: "disconnected", message: "exec-server transport disconnected" };

function eventsOf(process: AsyncIterable<ProcessEvent>): Promise<ProcessEvent[]> {
  return Array.fromAsync(process);
}

Deno.test("a start asks what the reference's client asks, member by member", async () => {
  await using client = await ProcessClient.connect();
  const started = client.processes.start({ argv: ["ls", "-l"], processId: "p", env: { LANG: "C" }, cwd: "sub dir" });
  const request = await client.far.request("process/start");
  assert.equal(
    JSON.stringify(request.params),
    '{"processId":"p","argv":["ls","-l"],"cwd":"file:///srv/sub%20dir","envPolicy":{"inherit":"core",' +
      '"ignoreDefaultExcludes":true,"exclude":[],"set":{},"includeOnly":[]},"env":{"LANG":"C"},"tty":false,' +
      '"pipeStdin":false,"arg0":null,"sandbox":null,"enforceManagedNetwork":false,"managedNetwork":null}',
  );
  client.far.answer(request.id, { processId: "p" });
  const process = await started;
  assert.deepEqual([process.id, process.sandboxType], ["p", "none"]);
});

Deno.test("events that come before the answer to the start are kept", async () => {
  await using client = await ProcessClient.connect();
  const started = client.processes.start({ argv: ["x"], processId: "p" });
  const { id } = await client.far.request("process/start");
  const line = [output(1, "a"), exited(2), closed(3)];
  client.tell(line);
  client.far.answer(id, { processId: "p", sandboxType: "linuxSeccomp" });
  const process = await started;
  assert.equal(process.sandboxType, "linuxSeccomp");
  assert.deepEqual(await eventsOf(process), line);
});

Deno.test("an answer that names another process fails the start, and both are not trusted to be gone", async () => {
  await using client = await ProcessClient.connect();
  const started = client.processes.start({ argv: ["x"], processId: "p" });
  const { id } = await client.far.request("process/start");
  client.far.answer(id, { processId: "q" });
  await assert.rejects(started, { kind: "json" });
  const { params } = await client.far.request("process/terminate");
  assert.deepEqual(params, { processId: "p" });
});

Deno.test("a refused start leaves no trace: its id can be used again", async () => {
  await using client = await ProcessClient.connect();
  const started = client.processes.start({ argv: ["x"], processId: "p" });
  const { id } = await client.far.request("process/start");
  client.far.refuse(id, -32603, "No such file or directory (os error 2)", { kind: "spawnNotFound" });
  await assert.rejects(started, { kind: "server", code: -32603, dataKind: "spawnNotFound" });
  const process = await client.start("p");
  assert.equal(process.id, "p");
  assert.deepEqual(client.far.unread, []);
});

Deno.test("the id of a living process is refused here, and free once it is closed", async () => {
  await using client = await ProcessClient.connect();
  await client.start("p");
  await assert.rejects(client.processes.start({ argv: ["x"], processId: "p" }), {
    kind: "protocol",
    message: "exec-server protocol error: session already registered for process p",
  });
  client.tell([exited(1), closed(2)]);
  await idle();
  await client.start("p");
});

Deno.test("what cannot be put in order fails its process alone", async () => {
  await using client = await ProcessClient.connect();
  const [bad, good] = [await client.start("bad"), await client.start("good")];
  for (let seq = 2; seq <= 258; seq++) client.tell([output(seq, "x")], "bad");
  await assert.rejects(eventsOf(bad), {
    kind: "protocol",
    message: "process event reorder buffer exceeds 256 entries",
  });
  const line = [output(1, "a"), exited(2), closed(3)];
  client.tell([...line].reverse(), "good");
  assert.deepEqual(await eventsOf(good), line);
  assert.deepEqual(await bad.read({ afterSeq: 0 }), {
    chunks: [],
    nextSeq: 260,
    exited: true,
    exitCode: null,
    closed: true,
    failure: "process event reorder buffer exceeds 256 entries",
    sandboxDenied: false,
  });
  await assert.rejects(bad.write("x"), { message: "process event reorder buffer exceeds 256 entries" });
  assert.deepEqual(client.far.unread, [], "no request is made for a failed process");
});

Deno.test("a start whose answer is lost fails, and the process is terminated once there is a connection", async () => {
  await using client = await ProcessClient.connect();
  const started = client.processes.start({ argv: ["x"], processId: "p" });
  await client.far.request("process/start");
  await assert.rejects(Promise.all([started, client.reconnect()]), DISCONNECTED);
  await idle();
  const first = await client.far.request("process/terminate");
  assert.deepEqual(first.params, { processId: "p" });
  await assert.rejects(client.processes.start({ argv: ["x"], processId: "p" }), {
    message: "exec-server protocol error: session already registered for process p",
  });
  // Lost again: it is asked again.
  client.far.close();
  client.far = await client.carrier.acceptAndShakeHands({ sessionId: "s1" });
  const second = await client.far.request("process/terminate");
  client.far.answer(second.id, { running: true });
  await idle();
  await client.start("p");
});

Deno.test("a start whose answer is lost is not repeated by a client that fails fast, but ended all the same", async () => {
  await using client = await ProcessClient.connect({ failFast: true });
  const started = client.processes.start({ argv: ["x"], processId: "p" });
  await client.far.request("process/start");
  client.far.close();
  await assert.rejects(started, DISCONNECTED);
  client.far = await client.carrier.acceptAndShakeHands({ sessionId: "s1" });
  await idle();
  client.clock.advance(100);
  const { id } = await client.far.request("process/terminate");
  client.far.answer(id, { running: true });
  await idle();
});

Deno.test("cleaning up an old start does not touch a newer process of the same id", async () => {
  await using client = await ProcessClient.connect();
  const controller = new AbortController();
  const started = client.processes.start({ argv: ["x"], processId: "p", signal: controller.signal });
  const { id } = await client.far.request("process/start");
  controller.abort(new Error("no longer wanted"));
  await assert.rejects(started, /^Error: no longer wanted$/);
  client.far.answer(id, { processId: "p" });
  const terminate = await client.far.request("process/terminate");
  // The old one closes before the answer comes, and the id is taken again.
  client.tell([exited(1, 137), closed(2)]);
  await idle();
  const newer = await client.start("p");
  client.far.answer(terminate.id, { running: true });
  await idle();
  client.tell([output(1, "new"), exited(2), closed(3)]);
  assert.equal((await eventsOf(newer)).length, 3);
});

Deno.test("a process that was over before the answer to its start got lost is not ended again", async () => {
  await using client = await ProcessClient.connect();
  const started = client.processes.start({ argv: ["x"], processId: "p" });
  await client.far.request("process/start");
  client.tell([exited(1), closed(2)]);
  await idle();
  const lost = assert.rejects(started, DISCONNECTED);
  await client.reconnect();
  await lost;
  const newer = await client.start("p");
  client.tell([output(1, "new"), exited(2), closed(3)]);
  assert.equal((await eventsOf(newer)).length, 3);
  assert.deepEqual(client.far.unread, []);
});

Deno.test("leaving the scope of a process does not touch a newer one that has its id by then", async () => {
  await using client = await ProcessClient.connect();
  const older = await client.start("p");
  client.far.close();
  const left = older[Symbol.asyncDispose]();
  await client.reconnect();
  await client.answerRead(0, readOf([exited(1), closed(2)]));
  await client.start("p");
  await left;
  assert.deepEqual(client.far.unread, []);
});

Deno.test("what is meant for a process that has ended does not reach a newer one of the same id", async () => {
  await using client = await ProcessClient.connect({ extensions: true });
  const older = await client.start("p");
  client.tell([exited(1), closed(2)]);
  await older.closed;
  await client.start("p");
  const deeds = [
    () => older.write("x"),
    () => older.closeStdin(),
    () => older.interrupt(),
    () => older.signal("SIGTERM"),
    () => older.resize({ rows: 1, columns: 1 }),
    () => older.read(),
  ];
  for (const deed of deeds) await assert.rejects(deed, { kind: "process", message: "process p has ended" });
  assert.equal(await older.terminate(), false);
  await older[Symbol.asyncDispose]();
  assert.deepEqual(client.far.unread, []);
});

Deno.test("a caller that goes away before the start is sent leaves nothing behind", async () => {
  await using client = await ProcessClient.connect();
  const reason = new Error("no longer wanted");
  const start = client.processes.start({ argv: ["x"], signal: AbortSignal.abort(reason) });
  await assert.rejects(start, reason);
  await idle();
  assert.deepEqual(client.far.unread, []);
});

Deno.test("a new connection is not resumed before the starts of the old one are over", async () => {
  await using client = await ProcessClient.connect();
  await client.processes.settled();
  const started = client.processes.start({ argv: ["x"], processId: "p" });
  await client.far.request("process/start");
  let isSettled = false;
  const settled = client.processes.settled().then(() => isSettled = true);
  await idle();
  assert.equal(isSettled, false);
  await assert.rejects(Promise.all([started, client.reconnect()]));
  await settled;
});

Deno.test("a process of another client begins with the oldest that the server has, and takes its own write ids", async () => {
  await using client = await ProcessClient.connect();
  const attached = client.processes.attach("p");
  const line = [output(1, "a"), output(2, "b"), output(3, "c")];
  const { id, params } = await client.far.request("process/read");
  assert.deepEqual(params, { processId: "p", afterSeq: 0, maxBytes: null, waitMs: 0 });
  // A notification that overtakes the answer.
  client.tell([output(4, "d")]);
  const { chunks, ...rest } = readOf(line, 1);
  client.far.answer(id, {
    ...rest,
    chunks: chunks.map(({ seq, stream, bytes }) => ({ seq, stream, chunk: btoa(String.fromCharCode(...bytes)) })),
  });
  const process = await attached;
  assert.equal(process.sandboxType, "unknown");
  client.tell([exited(5), closed(6)]);
  assert.deepEqual(await eventsOf(process), [...line.slice(1), output(4, "d"), exited(5), closed(6)]);
  const written = process.write("x");
  const write = await client.far.request("process/write");
  assert.match(write.params.writeId, /^[0-9a-f]{32}-1$/);
  client.far.answer(write.id, { status: "accepted" });
  await written;
});

Deno.test("attaching to a process that the server does not know fails in its words", async () => {
  await using client = await ProcessClient.connect();
  const attached = client.processes.attach("p");
  const { id } = await client.far.request("process/read");
  client.far.refuse(id, -32600, "unknown process id p");
  await assert.rejects(attached, { kind: "server", serverMessage: "unknown process id p" });
  await client.start("p");
});

Deno.test("leaving the scope of a running process ends it and waits for its end, but not forever", async () => {
  await using client = await ProcessClient.connect();
  for (const comes of [true, false]) {
    const process = await client.start("p");
    const end = process.exited.catch((error: unknown) => error);
    const disposed = process[Symbol.asyncDispose]();
    const { id } = await client.far.request("process/terminate");
    client.far.answer(id, { running: true });
    if (comes) client.tell([exited(1, 137), closed(2)]);
    await idle();
    if (!comes) client.clock.advance(2_000);
    await disposed;
    if (comes) assert.equal((await end as { code: number }).code, 137);
    else assert.equal((await end as Error).message, "process p was let go before its end");
  }
});

Deno.test("leaving the scope of a process that has ended asks nothing; of one that failed, it asks in vain", async () => {
  await using client = await ProcessClient.connect({ resumable: false });
  const [ended, failed] = [await client.start("ended"), await client.start("failed")];
  client.tell([exited(1), closed(2)], "ended");
  await ended.closed;
  await ended[Symbol.asyncDispose]();
  assert.deepEqual(client.far.unread, []);
  client.far.close();
  await assert.rejects(failed.exited, { kind: "disconnected" });
  await failed[Symbol.asyncDispose]();
});

Deno.test("an exit that was not a success is asked about where the server can tell more", async () => {
  await using client = await ProcessClient.connect({ extensions: true });
  const process = await client.start("p");
  client.tell([exited(1, 137)]);
  const { id, params } = await client.far.request("execServer/process/status");
  assert.deepEqual(params, { processId: "p" });
  client.far.answer(id, {
    processId: "p",
    pid: 1,
    argv: ["x"],
    tty: false,
    hasStdin: false,
    startedAtMs: 0,
    end: { exitCode: 137, signal: "SIGKILL", reason: "timeLimit" },
    closed: false,
  });
  assert.deepEqual(await process.exited, { code: 137, signal: "SIGKILL", reason: "timeLimit", sandboxDenied: false });
});

Deno.test("an exit is told without details if the server knows none", async () => {
  await using client = await ProcessClient.connect();
  const process = await client.start("p");
  client.tell([exited(1, 3, true)]);
  assert.deepEqual(await process.exited, { code: 3, signal: null, reason: null, sandboxDenied: true });
  const success = await client.start("q");
  client.tell([exited(1)], "q");
  assert.deepEqual(await success.exited, { code: 0, signal: null, reason: "exited", sandboxDenied: false });
  assert.deepEqual(client.far.unread, []);
});

Deno.test("an old server that leaves out whether a sandbox denied something is asked by process/read", async () => {
  await using client = await ProcessClient.connect();
  const process = await client.start("p");
  client.far.send({ method: "process/exited", params: { processId: "p", seq: 1, exitCode: 1 } });
  const { id, params } = await client.far.request("process/read");
  assert.deepEqual(params, { processId: "p", afterSeq: 1, maxBytes: 0, waitMs: 0 });
  client.far.answer(id, { chunks: [], nextSeq: 2, exited: true, exitCode: 1, closed: false, sandboxDenied: true });
  assert.equal((await process.exited).sandboxDenied, true);
});

Deno.test("an exit does not wait long for its details", async () => {
  await using client = await ProcessClient.connect({ extensions: true });
  const process = await client.start("p");
  client.tell([exited(1, 1)]);
  await client.far.request("execServer/process/status");
  client.clock.advance(10_000);
  assert.equal((await process.exited).reason, null);
});

Deno.test("a start has a span of its own below the caller's trace, and the request hangs below it", async () => {
  const parents: unknown[] = [];
  const started: string[] = [];
  await using client = await ProcessClient.connect({
    telemetry: {
      startSpan: ({ name, parent }) => {
        started.push(name);
        parents.push(parent?.traceparent);
        return { context: { traceparent: `of ${name}` }, event() {}, end() {} };
      },
    },
  });
  started.length = parents.length = 0;
  await client.start("p", { trace: { traceparent: "the caller's" } });
  assert.deepEqual(started, ["codex.exec_server.process_start", "process/start"]);
  assert.deepEqual(parents, ["the caller's", "of codex.exec_server.process_start"]);
});

Deno.test("nobody has to wait for the end of a process that fails", async () => {
  await using client = await ProcessClient.connect({ resumable: false });
  await client.start("p");
  client.far.close();
  await idle();
  assert.ok(client.core.failure instanceof ClientError);
});

Deno.test("leaving the scope of a process while there is no connection ends it all the same", async () => {
  for (const failFast of [false, true]) {
    await using client = await ProcessClient.connect({ failFast });
    const process = await client.start();
    client.far.close();
    await idle();
    const disposed = process[Symbol.asyncDispose]();
    client.far = await client.carrier.acceptAndShakeHands({ sessionId: "s1" });
    await client.answerRead(0, readOf([]));
    await idle();
    if (failFast) client.clock.advance(100);
    // Its answer is lost as well.
    await client.far.request("process/terminate");
    client.far.close();
    client.far = await client.carrier.acceptAndShakeHands({ sessionId: "s1" });
    await client.answerRead(0, readOf([]));
    await idle();
    if (failFast) client.clock.advance(100);
    client.far.answer((await client.far.request("process/terminate")).id, { running: true });
    client.tell([exited(1, 137), closed(2)]);
    await disposed;
  }
});
