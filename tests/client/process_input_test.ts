import assert from "node:assert/strict";
import type { ExecProcess } from "../../lib/client/process.ts";
import { decodeBase64 } from "../../lib/base64.ts";
import { idle, type Wire } from "../support/scripted_server.ts";
import { exited, readOf } from "./support/events.ts";
import { ProcessClient } from "./support/process_client.ts";

async function nextWrite(client: ProcessClient): Promise<Wire> {
  const { id, params } = await client.far.request("process/write");
  return { id, ...params, text: new TextDecoder().decode(decodeBase64(params.chunk)) };
}

Deno.test("writes are numbered per process and one is under way at a time", async () => {
  await using client = await ProcessClient.connect();
  const process = await client.start("p", { stdin: true });
  const writes = Promise.all([process.write("a"), process.write("b")]);
  const first = await nextWrite(client);
  assert.deepEqual([first.processId, first.text, first.writeId], ["p", "a", "1"]);
  await idle();
  assert.deepEqual(client.far.unread, []);
  client.far.answer(first.id, { status: "accepted" });
  const second = await nextWrite(client);
  assert.deepEqual([second.text, second.writeId], ["b", "2"]);
  client.far.answer(second.id, { status: "accepted" });
  await writes;
  const other = await client.start("q", { stdin: true });
  const written = other.write("c");
  const third = await nextWrite(client);
  assert.equal(third.writeId, "1");
  client.far.answer(third.id, { status: "accepted" });
  await written;
});

Deno.test("a write whose answer is lost is repeated with the same id, before what was written after it", async () => {
  await using client = await ProcessClient.connect();
  const process = await client.start("p", { stdin: true });
  const writes = Promise.all([process.write("a"), process.write("b")]);
  await nextWrite(client);
  await client.reconnect();
  await client.answerRead(0, readOf([]));
  for (const [text, writeId] of [["a", "1"], ["b", "2"]]) {
    const write = await nextWrite(client);
    assert.deepEqual([write.text, write.writeId], [text, writeId]);
    client.far.answer(write.id, { status: "accepted" });
  }
  await writes;
});

Deno.test("a long write goes in blocks of 1 MiB; an empty one is sent as it is", async () => {
  await using client = await ProcessClient.connect();
  const process = await client.start("p", { stdin: true });
  const bytes = new Uint8Array(2 * 1024 * 1024 + 1).map((_, at) => at);
  const written = process.write(bytes);
  const expected = [1024 * 1024, 1024 * 1024, 1];
  for (const length of expected) {
    const { id, params } = await client.far.request("process/write");
    assert.equal(decodeBase64(params.chunk).length, length);
    client.far.answer(id, { status: "accepted" });
  }
  await written;
  const empty = process.write("");
  const write = await nextWrite(client);
  assert.equal(write.chunk, "");
  client.far.answer(write.id, { status: "accepted" });
  await empty;
});

Deno.test("bytes are written as they were at the call, whatever becomes of their buffer", async () => {
  await using client = await ProcessClient.connect();
  const process = await client.start("p", { stdin: true });
  const first = process.write("first");
  const buffer = new TextEncoder().encode("second");
  const second = process.write(buffer);
  buffer.fill(0);
  client.far.answer((await nextWrite(client)).id, { status: "accepted" });
  const write = await nextWrite(client);
  assert.equal(write.text, "second");
  client.far.answer(write.id, { status: "accepted" });
  await Promise.all([first, second]);
});

Deno.test("a write that is refused says why", async () => {
  await using client = await ProcessClient.connect();
  const process = await client.start("p");
  for (
    const [status, reason] of [
      ["stdinClosed", "has no input"],
      ["unknownProcess", "is not known to the server any more"],
      ["starting", "is still being started"],
    ]
  ) {
    const written = process.write("x");
    client.far.answer((await nextWrite(client)).id, { status });
    await assert.rejects(written, { kind: "process", message: `process p ${reason}` });
  }
});

Deno.test("a write that is given up makes room for the next, and those before it stay in order", async () => {
  await using client = await ProcessClient.connect();
  const process = await client.start("p", { stdin: true });
  const controller = new AbortController();
  const first = process.write("a");
  const second = process.write("b", { signal: controller.signal });
  const third = process.write("c");
  const write = await nextWrite(client);
  controller.abort(new Error("enough"));
  await assert.rejects(second, /^Error: enough$/);
  await idle();
  assert.deepEqual(client.far.unread, [], "the first is still under way");
  client.far.answer(write.id, { status: "accepted" });
  const last = await nextWrite(client);
  assert.equal(last.text, "c");
  client.far.answer(last.id, { status: "accepted" });
  await Promise.all([first, third]);
});

/** Acts on a process and returns the one request that this makes. */
async function asked(client: ProcessClient, act: () => Promise<unknown>, result: unknown): Promise<Wire> {
  const acted = act();
  const { id, method, params } = await client.far.next();
  client.far.answer(id, result);
  await acted;
  return { method, params };
}

Deno.test("the input of a pipe is ended by the extension, behind what was written", async () => {
  await using client = await ProcessClient.connect({ extensions: true });
  const process = await client.start("p", { stdin: true });
  const written = process.write("a");
  const ended = process.closeStdin();
  const write = await nextWrite(client);
  await idle();
  assert.deepEqual(client.far.unread, []);
  client.far.answer(write.id, { status: "accepted" });
  const { id, params } = await client.far.request("execServer/process/closeStdin");
  assert.deepEqual(params, { processId: "p" });
  client.far.answer(id, { status: "accepted" });
  await Promise.all([written, ended]);
});

Deno.test("the input of a terminal is ended by its end-of-file character, on every server", async () => {
  for (const extensions of [false, true]) {
    await using client = await ProcessClient.connect({ extensions });
    const process = await client.start("p", { tty: true });
    const { method, params } = await asked(client, () => process.closeStdin(), { status: "accepted" });
    assert.deepEqual([method, params.chunk], ["process/write", "BA=="]);
  }
});

const CANNOT: readonly [act: (process: ExecProcess) => Promise<unknown>, message: string][] = [
  [(process) => process.closeStdin(), "this server cannot end the input of a program"],
  [(process) => process.resize({ rows: 1, columns: 1 }), "this server cannot change the size of a terminal"],
  [
    (process) => process.signal("SIGTERM"),
    "this server cannot send SIGTERM: of all signals it has only SIGINT and SIGKILL",
  ],
];

Deno.test("a server without our extensions is not asked for them: what it cannot do is said in words", async () => {
  await using client = await ProcessClient.connect();
  const process = await client.start("p");
  for (const [act, message] of CANNOT) await assert.rejects(act(process), { kind: "unsupported", message });
  const starts = [
    [{ timeLimitMs: 1 }, "this server cannot limit the time of a program"],
    [{ tty: { rows: 25, columns: 80 } }, "this server has only terminals of 24 rows and 80 columns"],
  ] as const;
  for (const [options, message] of starts) {
    await assert.rejects(client.processes.start({ argv: ["x"], ...options }), { kind: "unsupported", message });
  }
  assert.deepEqual(client.far.unread, []);
});

Deno.test("without our extensions SIGINT and SIGKILL are the stock methods", async () => {
  await using client = await ProcessClient.connect();
  const process = await client.start("p");
  assert.deepEqual(await asked(client, () => process.signal("SIGINT"), {}), {
    method: "process/signal",
    params: { processId: "p", signal: "interrupt" },
  });
  assert.deepEqual(await asked(client, () => process.interrupt(), {}), {
    method: "process/signal",
    params: { processId: "p", signal: "interrupt" },
  });
  assert.deepEqual(await asked(client, () => process.signal("SIGKILL"), { running: true }), {
    method: "process/terminate",
    params: { processId: "p" },
  });
});

Deno.test("with our extensions signals go by name, sizes change, and a start says more", async () => {
  await using client = await ProcessClient.connect({ extensions: true });
  const process = await client.start("p", { tty: { rows: 24, columns: 80 } });
  assert.deepEqual(await asked(client, () => process.signal("SIGUSR1"), { running: true }), {
    method: "execServer/process/signal",
    params: { processId: "p", signal: "SIGUSR1" },
  });
  assert.deepEqual(await asked(client, () => process.resize({ rows: 5, columns: 6 }), {}), {
    method: "execServer/process/resize",
    params: { processId: "p", size: { rows: 5, columns: 6 } },
  });
  const start = () =>
    client.processes.start({ argv: ["x"], processId: "q", tty: { rows: 5, columns: 6 }, timeLimitMs: 7 });
  const { method, params } = await asked(client, start, { processId: "q" });
  assert.equal(method, "execServer/process/start");
  assert.deepEqual([params.tty, params.terminalSize, params.timeLimitMs], [true, { rows: 5, columns: 6 }, 7]);
});

Deno.test("terminate says whether the process was running, without a request once its exit is known", async () => {
  await using client = await ProcessClient.connect();
  const process = await client.start("p");
  const terminated = process.terminate();
  client.far.answer((await client.far.request("process/terminate")).id, { running: true });
  assert.equal(await terminated, true);
  client.tell([exited(1)]);
  await process.exited;
  assert.equal(await process.terminate(), false);
  assert.deepEqual(client.far.unread, []);
});

Deno.test("options that no server can follow are refused before anything is sent", async () => {
  await using client = await ProcessClient.connect({ extensions: true });
  const bad = [
    [{ timeLimitMs: 0 }, "timeLimitMs must be a whole number from 1 to 9007199254740991, not 0"],
    [{ tty: { rows: 0, columns: 1 } }, "rows must be a whole number from 1 to 65535, not 0"],
    [{ tty: { rows: 1, columns: 65536 } }, "columns must be a whole number from 1 to 65535, not 65536"],
    [
      {
        inherit: "all",
        envPolicy: { inherit: "all", ignoreDefaultExcludes: true, exclude: [], set: new Map(), includeOnly: [] },
      },
      "inherit is part of envPolicy: only one of them can be given",
    ],
  ] as const;
  for (const [options, message] of bad) {
    await assert.rejects(client.processes.start({ argv: ["x"], ...options }), { kind: "configuration", message });
  }
  assert.deepEqual(client.far.unread, []);
});
