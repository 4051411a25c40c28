import assert from "node:assert/strict";
import type { WireClient } from "../support/wire_client.ts";
import { Assembly } from "./assembly.ts";
import { eventually, inTime } from "./eventually.ts";
import { startParams } from "./process_watch.ts";
import { announcedSeed, Random } from "./random.ts";
import { surviveDisconnections } from "./resume.ts";
import { RunningServer } from "./running_server.ts";
import { Mirror, startSteady } from "./steady_program.ts";

const ignore = Deno.build.os !== "linux";
const RETAINED_BYTES = 1024 * 1024;
const FLOOD_BYTES = 3 * RETAINED_BYTES;

Deno.test({
  name: "twenty disconnections while programs write lose, repeat and reorder nothing",
  ignore,
  async fn() {
    const random = new Random(announcedSeed("disconnections"));
    await using server = await RunningServer.start();
    await surviveDisconnections(server, 20, random);
  },
});

Deno.test({
  name: "what exceeds the retained output leaves a gap in the numbers of its own process only",
  ignore,
  async fn() {
    const done = await Deno.makeTempFile({ prefix: "exec-server-test-" });
    try {
      await using server = await RunningServer.start();
      await exceedRetention(server, done);
    } finally {
      await Deno.remove(done);
    }
  },
});

/** @param done An empty file to which the flooding program writes when it has written everything else. */
async function exceedRetention(server: RunningServer, done: string): Promise<void> {
  const random = new Random(1);
  const mirror = Mirror.onPipes("mirror");
  const flood = new Assembly(() => 0);
  await using before = await server.connect();
  const sessionId = await before.initialize();
  hear(before, mirror, flood);
  await startSteady(before, mirror);
  const script = `read line; head -c ${FLOOD_BYTES} /dev/zero; echo done > ${done}; exec cat`;
  await before.request("process/start", startParams("flood", { argv: ["sh", "-c", script], pipeStdin: true }));
  for (let writes = 0; writes < 5; writes++) mirror.write(before, random);
  await write(before, "go", "\n");
  await before[Symbol.asyncDispose]();
  await eventually("the flood is over", () => assert.equal(Deno.readTextFileSync(done), "done\n"));
  const heard = flood.seq;

  await using after = await server.connect();
  hear(after, mirror, flood);
  await after.initialize(sessionId);
  mirror.repeatWrites(after);
  const retained = await after.request<ReadResult>("process/read", { processId: "flood", afterSeq: heard });
  const numbers = retained.chunks.map(({ seq }) => seq);
  assert.ok(numbers[0]! > heard + 1, `the first number after ${heard} is ${numbers[0]}`);
  assert.deepEqual(numbers, numbers.map((_, index) => numbers[0]! + index));
  assert.equal(retained.nextSeq, numbers.at(-1)! + 1);
  const bytes = retained.chunks.reduce((sum, { chunk }) => sum + Uint8Array.fromBase64(chunk).length, 0);
  assert.ok(bytes <= RETAINED_BYTES && bytes > RETAINED_BYTES - 65_536, `${bytes} bytes are retained`);

  // Beyond the gap it goes on without another one.
  flood.read(retained);
  flood.skipGap();
  const received = flood.bytes;
  await write(after, "zeros", "\0".repeat(1000));
  await until("the flooding program's answer", [flood], () => flood.bytes >= received + 1000);
  assert.deepEqual(flood.waiting, []);

  // The other process has lost nothing.
  mirror.output.read(await after.request("process/read", { processId: mirror.id, afterSeq: mirror.output.seq }));
  await until("the mirror's answers", [mirror.output], () => mirror.isEven);
  assert.deepEqual(mirror.output.waiting, []);
}

interface ReadResult {
  chunks: { seq: number; chunk: string }[];
  nextSeq: number;
}

function hear(client: WireClient, mirror: Mirror, flood: Assembly): void {
  for (const output of [mirror.output, flood]) output.reconnected();
  client.onNotification = (method, params) => {
    (params["processId"] === mirror.id ? mirror.output : flood).hear(method, params);
  };
}

async function write(client: WireClient, writeId: string, text: string): Promise<void> {
  const chunk = new TextEncoder().encode(text).toBase64();
  const answer = await client.request("process/write", { processId: "flood", chunk, writeId });
  assert.deepEqual(answer, { status: "accepted" });
}

async function until(what: string, outputs: Assembly[], isTrue: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const output of outputs) output.onProgress = () => isTrue() && resolve();
  if (!isTrue()) await inTime(what, promise);
}
