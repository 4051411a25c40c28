import assert from "node:assert/strict";
import { idle } from "../support/scripted_server.ts";
import { decodeBase64 } from "../../lib/base64.ts";
import { closed, exited, output } from "./support/events.ts";
import { ProcessClient, type ProcessClientOptions } from "./support/process_client.ts";
import type { RunOptions } from "../../lib/client/process.ts";

/** A run whose program has been started. */
async function run(options: Partial<RunOptions>, server: ProcessClientOptions = {}) {
  const client = await ProcessClient.connect(server);
  const running = client.processes.run({ argv: ["x"], processId: "p", ...options });
  running.catch(() => {});
  const { id, params } = await client.far.request("process/start");
  client.far.answer(id, { processId: "p" });
  return { client, running, params, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() };
}

async function answerTerminate(client: ProcessClient): Promise<void> {
  const { id } = await client.far.request("process/terminate");
  client.far.answer(id, { running: true });
  client.tell([exited(99, 137), closed(100)]);
  await idle();
  client.clock.advance(2_000);
}

Deno.test("run gives what a program wrote, by stream, and how it ended", async () => {
  await using started = await run({});
  assert.equal(started.params.pipeStdin, false);
  const bytes = new TextEncoder().encode("é");
  started.client.tell([
    output(1, bytes.slice(0, 1)),
    output(2, "err", "stderr"),
    output(3, bytes.slice(1)),
    exited(4, 0, true),
    output(5, "!"),
    closed(6),
  ]);
  const result = await started.running;
  assert.deepEqual([result.stdoutText, result.stderrText], ["é!", "err"]);
  assert.deepEqual(result.stdout, new TextEncoder().encode("é!"));
  const { code, signal, reason, sandboxDenied } = result;
  assert.deepEqual({ code, signal, reason, sandboxDenied }, {
    code: 0,
    signal: null,
    reason: "exited",
    sandboxDenied: true,
  });
});

Deno.test("run gives input and ends it, in whatever form it comes", async () => {
  const inputs = ["abc", new TextEncoder().encode("abc"), new Blob(["abc"]).stream()];
  for (const input of inputs) {
    await using started = await run({ input }, { extensions: true });
    const { client } = started;
    assert.equal(started.params.pipeStdin, true);
    const write = await client.far.request("process/write");
    assert.deepEqual(decodeBase64(write.params.chunk), new TextEncoder().encode("abc"));
    client.far.answer(write.id, { status: "accepted" });
    const { id } = await client.far.request("execServer/process/closeStdin");
    client.far.answer(id, { status: "accepted" });
    client.tell([exited(1), closed(2)]);
    assert.equal((await started.running).code, 0);
  }
});

Deno.test("run refuses input where its end cannot be told, before anything is started", async () => {
  await using client = await ProcessClient.connect();
  await assert.rejects(client.processes.run({ argv: ["cat"], input: "abc" }), {
    kind: "unsupported",
    message: "this server cannot end the input of a program, which would wait for it forever",
  });
  assert.deepEqual(client.far.unread, []);
});

Deno.test("a program that ends before it has read its input is no failure, and the rest is not asked for", async () => {
  let cancelled: unknown;
  const input = new ReadableStream<Uint8Array>({ cancel: (reason) => void (cancelled = reason) });
  await using started = await run({ input }, { extensions: true });
  started.client.tell([exited(1), closed(2)]);
  assert.equal((await started.running).code, 0);
  assert.notEqual(cancelled, undefined);
});

Deno.test("an input that fails ends the program and is the run's failure", async () => {
  const input = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error("torn")) });
  await using started = await run({ input }, { extensions: true });
  await answerTerminate(started.client);
  await assert.rejects(started.running, /^Error: torn$/);
});

Deno.test("run ends a program that writes more than is to be collected", async () => {
  await using started = await run({ maxOutputBytes: 3 });
  started.client.tell([output(1, "ab"), output(2, "cd", "stderr")]);
  await answerTerminate(started.client);
  await assert.rejects(started.running, { kind: "outputLimit", message: "process p wrote more than 3 bytes" });
  await using exact = await run({ maxOutputBytes: 3 });
  exact.client.tell([output(1, "abc"), exited(2), closed(3)]);
  assert.equal((await exact.running).stdoutText, "abc");
});

Deno.test("run ends a program when its caller gives up", async () => {
  const controller = new AbortController();
  await using started = await run({ signal: controller.signal });
  await idle();
  controller.abort(new Error("enough"));
  await answerTerminate(started.client);
  await assert.rejects(started.running, /^Error: enough$/);
});

Deno.test("run refuses a bound that is none", async () => {
  await using client = await ProcessClient.connect();
  for (const maxOutputBytes of [-1, 1.5, NaN, Infinity]) {
    await assert.rejects(client.processes.run({ argv: ["x"], maxOutputBytes }), {
      kind: "configuration",
      message: `maxOutputBytes must be a whole number, not ${maxOutputBytes}`,
    });
  }
});
