import assert from "node:assert/strict";
import type { Carrier } from "../../lib/client/carrier.ts";
import { ExecClient } from "../../lib/client/client.ts";
import { linesOf } from "../../lib/client/process_text.ts";
import { silentLog } from "../../lib/log.ts";
import { portableBackend } from "../../lib/process/portable/spawn.ts";
import type { Connection } from "../../lib/rpc/connection.ts";
import { memoryPair } from "../../lib/rpc/memory.ts";
import { ExecServer } from "../../lib/server/mod.ts";

// Opens the C library before a test could be blamed for it.
if (Deno.build.os === "linux") await import("../../lib/process/linux/machine.ts");

const IGNORED = Deno.build.os === "windows";

/** A client of a server in this process; its connection can be cut. */
async function connected(concurrentRequests = 1) {
  const stack = new AsyncDisposableStack();
  const backend = stack.use(portableBackend({ log: silentLog }));
  const server = stack.use(await ExecServer.create({ backend, concurrentRequests }));
  let far: Connection | undefined;
  const carrier: Carrier = {
    label: "memory",
    resume: { pauseMs: () => 1 },
    renewable: true,
    open() {
      const [near, other] = memoryPair();
      far = other;
      void server.serve(other, "websocket");
      return Promise.resolve({ connection: near });
    },
  };
  const client = stack.use(await ExecClient.connect(carrier));
  return { client, cut: () => far?.close(), [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

Deno.test({
  name: "a flood that is read slowly arrives whole, and is held meanwhile instead of filling our memory",
  ignore: IGNORED,
  async fn() {
    await using place = await connected();
    const total = 64 * 1024 * 1024;
    await using process = await place.client.start({ argv: ["head", "-c", String(total), "/dev/zero"] });
    const reader = process.stdout.getReader();
    let bytes = (await reader.read()).value?.length ?? 0;
    const state = async () => (await place.client.processes()).find(({ processId }) => processId === process.id);
    // What the reader does not take is neither sent without end nor lost: the program cannot finish.
    const before = await process.read({ afterSeq: 0, maxBytes: 0 });
    let after = before;
    for (let unchanged = 0; unchanged < 5;) {
      const next = await process.read({ afterSeq: after.nextSeq, maxBytes: null, waitMs: 20 });
      unchanged = next.nextSeq === after.nextSeq ? unchanged + 1 : 0;
      after = next;
    }
    assert.equal((await state())?.end, null);
    for (let result = await reader.read(); !result.done; result = await reader.read()) bytes += result.value.length;
    assert.equal(bytes, total);
    assert.equal((await process.exited).code, 0);
  },
});

Deno.test({
  name: "lines of a program arrive once each although the connection is cut again and again",
  ignore: IGNORED,
  async fn() {
    await using place = await connected();
    await using process = await place.client.start({
      argv: ["sh", "-c", "i=0; while [ $i -lt 400 ]; do echo line $i; i=$((i+1)); done; read x; echo $x"],
      stdin: true,
    });
    const lines: string[] = [];
    for await (const line of linesOf(process.stdout)) {
      if (lines.push(line) % 50 === 0) place.cut();
      if (lines.length === 400) await process.write("the end\n");
    }
    assert.deepEqual(lines, [...Array.from({ length: 400 }, (_, at) => `line ${at}`), "the end"]);
    await process.closed;
  },
});

Deno.test({
  name: "run gives input to a program and collects what it makes of it",
  ignore: IGNORED,
  async fn() {
    await using place = await connected();
    const input = new Blob(["b\n", "a\n"]).stream();
    const { stdoutText, code } = await place.client.run({ argv: ["sort"], input });
    assert.deepEqual([stdoutText, code], ["a\nb\n", 0]);
    const large = new Uint8Array(5_000_000).fill(97);
    const { stdout } = await place.client.run({ argv: ["cat"], input: large });
    assert.deepEqual(stdout.length, large.length);
  },
});

Deno.test({
  name: "why a program ended is told: a signal, its time limit, a termination",
  ignore: IGNORED,
  async fn() {
    await using place = await connected();
    const { client } = place;
    const killed = await client.run({ argv: ["sh", "-c", "kill -TERM $$"] });
    assert.deepEqual([killed.code, killed.signal, killed.reason], [143, "SIGTERM", "signaled"]);
    const late = await client.run({ argv: ["sleep", "60"], timeLimitMs: 50 });
    assert.deepEqual([late.code, late.signal, late.reason], [137, "SIGKILL", "timeLimit"]);
    const process = await client.start({ argv: ["sleep", "60"] });
    await process[Symbol.asyncDispose]();
    const { signal, reason } = await process.exited;
    assert.deepEqual([signal, reason], ["SIGKILL", "terminated"]);
  },
});

Deno.test({
  name: "a terminal has the size that was asked for, and another one when it changes",
  ignore: IGNORED,
  async fn() {
    await using place = await connected();
    await using process = await place.client.start({
      argv: ["sh", "-c", "stty size; read x; stty size"],
      tty: { rows: 10, columns: 20 },
    });
    const lines = linesOf(process.output);
    assert.equal((await lines.next()).value, "10 20");
    await process.resize({ rows: 30, columns: 40 });
    await process.write("\n");
    assert.equal((await lines.next()).value, "");
    assert.equal((await lines.next()).value, "30 40");
    await lines.return();
  },
});

Deno.test({
  name: "hundreds of reads that wait hold nobody up behind a server that works on them at once",
  ignore: IGNORED,
  async fn() {
    await using place = await connected(1024);
    await using process = await place.client.start({ argv: ["cat"], stdin: true });
    const reads = Array.from({ length: 400 }, () => process.read({ afterSeq: 0, waitMs: 60_000 }));
    assert.deepEqual(await place.client.status(), { state: "ready" });
    await process.write("for all of them");
    for (const { chunks } of await Promise.all(reads)) assert.equal(chunks.length, 1);
  },
});
