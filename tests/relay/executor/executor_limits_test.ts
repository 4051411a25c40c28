import assert from "node:assert/strict";
import { encodeData, encodeHandshake } from "../../../lib/relay/stream/frame.ts";
import { StaticKeys } from "../../../lib/relay/noise/static_keys.ts";
import { executorKeys, ExecutorRig, type TestHarness } from "../executor_rig.ts";

const RECORD = new Uint8Array(40);
const UNREADABLE = new Uint8Array(3568);

/** The executor's keys, and how often a first message was read with them. */
function countingKeys(): { keys: StaticKeys; reads: () => number } {
  const { x25519, mlkem768 } = executorKeys;
  let reads = 0;
  const counted = {
    public: mlkem768.public,
    decapsulate: (ciphertext: Uint8Array) => (reads++, mlkem768.decapsulate(ciphertext)),
    [Symbol.dispose]() {},
  };
  return { keys: new StaticKeys(x25519, counted), reads: () => reads };
}

/** Lets what has been answered take effect. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/** So many handshakes that the registry has been asked about and has not answered. */
async function pending(rig: ExecutorRig, count: number): Promise<TestHarness[]> {
  const harnesses = [];
  for (let i = 0; i < count; i++) {
    const harness = await rig.harness(`pending ${i}`);
    harness.greet();
    await rig.question(i);
    harnesses.push(harness);
  }
  return harnesses;
}

Deno.test("while 32 validations run, another handshake is reset, at no cost and without being read", async () => {
  const { keys, reads } = countingKeys();
  await using rig = new ExecutorRig({ keys });
  await pending(rig, 32);
  for (let i = 0; i < 20; i++) rig.socket.deliver(encodeHandshake("one more", UNREADABLE));
  assert.deepEqual(rig.sent, Array(20).fill("reset one more"));
  assert.deepEqual([rig.refusals, rig.pauses, reads()], [Array(20).fill("too many validations"), [], 32]);
});

Deno.test("a handshake that was given up occupies its validation until the request has ended", async () => {
  await using rig = new ExecutorRig();
  const harnesses = await pending(rig, 32);
  harnesses[0]!.reset();
  const next = await rig.harness("next");
  next.greet();
  assert.deepEqual(rig.sent, ["reset next"]);
  rig.questions[0]!.answer("valid");
  await turn();
  next.greet();
  await rig.question(32);
  assert.deepEqual([rig.sent, rig.opened], [["reset next"], []]);
});

Deno.test("the request of a validation that took too long occupies it until it has really ended", async () => {
  await using rig = new ExecutorRig();
  await pending(rig, 32);
  rig.clock.advance(10_000);
  await rig.socket.frames(32);
  assert.equal(rig.pauses.length, 4);
  rig.clock.advance(10_000);
  (await rig.harness("next")).greet();
  assert.equal(rig.refusals.at(-1), "too many validations");
  rig.questions[7]!.fail(new Error("cancelled"));
  await turn();
  (await rig.harness("next")).greet();
  await rig.question(32);
});

Deno.test("the 129th stream is reset, at no cost and without being read, and one that ends makes room", async () => {
  const { keys, reads } = countingKeys();
  await using rig = new ExecutorRig({ keys });
  rig.verdict = "valid";
  const harnesses = [];
  for (let i = 0; i < 128; i++) {
    const harness = await rig.harness(`s${i}`);
    harness.greet();
    await rig.socket.frames(i + 1);
    harnesses.push(harness);
  }
  assert.equal(rig.streams.active, 128);
  for (let i = 0; i < 20; i++) rig.socket.deliver(encodeHandshake("one more", UNREADABLE));
  assert.deepEqual(rig.sent.slice(128), Array(20).fill("reset one more"));
  assert.deepEqual([rig.refusals, rig.pauses, reads()], [Array(20).fill("too many streams"), [], 128]);
  harnesses[5]!.reset();
  (await rig.harness("next")).greet();
  await rig.socket.frames(149);
  assert.equal(rig.sent[148], "handshake next");
});

Deno.test("a handshake whose validation ends when there are 128 streams is reset, at no cost", async () => {
  await using rig = new ExecutorRig();
  rig.verdict = "valid";
  for (let i = 0; i < 120; i++) {
    (await rig.harness(`s${i}`)).greet();
    await rig.socket.frames(i + 1);
  }
  rig.verdict = undefined;
  for (let i = 0; i < 20; i++) (await rig.harness(`late ${i}`)).greet();
  await rig.question(139);
  // All at once: some are being answered when the last place is taken.
  for (const { answer } of rig.questions.slice(120)) answer("valid");
  await rig.socket.frames(140);
  const kinds = rig.socket.sent.slice(120).map(({ kind }) => kind);
  assert.deepEqual([kinds.filter((kind) => kind === "handshake").length, rig.streams.active], [8, 128]);
  assert.deepEqual([rig.refusals, rig.pauses], [Array(12).fill("too many streams"), []]);
});

Deno.test("after eight failures every handshake is reset for ten seconds, without being read", async () => {
  const { keys, reads } = countingKeys();
  await using rig = new ExecutorRig({ keys });
  const established = await rig.open("established");
  await rig.failReads(8);
  assert.deepEqual([rig.pauses, reads()], [[10_000], 9]);
  const harness = await rig.harness("s");
  harness.greet();
  rig.clock.advance(9_999);
  harness.greet();
  assert.deepEqual(rig.sent.slice(9), ["reset s", "reset s"]);
  assert.deepEqual([rig.refusals.slice(8), reads()], [["paused", "paused"], 9]);
  established.send("still here");
  assert.equal(await rig.message(0, 0), "still here");
  rig.clock.advance(1);
  harness.greet();
  (await rig.question(1)).answer("valid");
  await rig.socket.frames(12);
  assert.equal(rig.sent[11], "handshake s");
});

Deno.test("a handshake of an active stream or of a pending one is reset during a pause, and changes neither", async () => {
  await using rig = new ExecutorRig();
  const active = await rig.open("active");
  const waiting = await rig.harness("waiting");
  waiting.greet();
  await rig.question(1);
  await rig.failReads(8);
  active.greet();
  waiting.greet();
  assert.deepEqual(rig.refusals.slice(8), ["paused", "paused"]);
  rig.questions[1]!.answer("valid");
  await rig.socket.frames(12);
  assert.equal(rig.sent[11], "handshake waiting");
});

Deno.test("the next pause takes eight failures more", async () => {
  await using rig = new ExecutorRig();
  await rig.failReads(8);
  rig.clock.advance(10_000);
  await rig.failReads(7);
  assert.equal(rig.pauses.length, 1);
  await rig.failReads(1);
  assert.equal(rig.pauses.length, 2);
});

Deno.test("neither a success nor time makes up for a failure", async () => {
  await using rig = new ExecutorRig();
  await rig.failReads(7);
  await rig.open("s");
  rig.clock.advance(61_000);
  assert.deepEqual(rig.pauses, []);
  await rig.failReads(1);
  assert.deepEqual(rig.pauses, [10_000]);
});

Deno.test("another socket begins without failures", async () => {
  await using before = new ExecutorRig();
  await before.failReads(8);
  await using after = new ExecutorRig();
  await after.open("s");
});

Deno.test("of a flood of unreadable handshakes eight are read, and all are reset", async () => {
  const { keys, reads } = countingKeys();
  await using rig = new ExecutorRig({ keys });
  for (let i = 0; i < 5_000; i++) rig.socket.deliver(encodeHandshake(`s${i}`, UNREADABLE));
  await rig.socket.frames(5_000);
  assert.deepEqual([reads(), rig.pauses], [8, [10_000]]);
  // One is being read, 128 wait.
  const count = (reason: string) => rig.refusals.filter((other) => other === reason).length;
  assert.deepEqual([count("too many validations"), count("paused")], [5_000 - 129, 121]);
  assert.equal(new Set(rig.sent).size, 5_000);
});

Deno.test("of a flood of handshakes that are given up at once only those are read whose turn has come", async () => {
  const { keys, reads } = countingKeys();
  await using rig = new ExecutorRig({ keys });
  const harnesses = await Promise.all(Array.from({ length: 100 }, (_, i) => rig.harness(`s${i}`)));
  for (const harness of harnesses) {
    harness.greet();
    harness.reset();
  }
  await rig.allRead();
  assert.deepEqual([reads(), rig.questions.length, rig.sent], [2, 2, []]);
});

Deno.test("handshakes that are given up while they are read are validated, so that their number is bounded", async () => {
  const { keys, reads } = countingKeys();
  await using rig = new ExecutorRig({ keys });
  for (let i = 0; i < 32; i++) {
    const harness = await rig.harness(`s${i}`);
    harness.greet();
    harness.reset();
    await rig.question(i);
  }
  (await rig.harness("next")).greet();
  assert.deepEqual([rig.refusals, reads()], [["too many validations"], 32]);
});

Deno.test("a burst of a hundred good handshakes is answered to the last", async () => {
  await using rig = new ExecutorRig();
  rig.verdict = "valid";
  const harnesses = await Promise.all(Array.from({ length: 100 }, (_, i) => rig.harness(`s${i}`)));
  for (const harness of harnesses) harness.greet();
  await rig.socket.frames(100);
  assert.deepEqual(rig.sent.toSorted(), Array.from({ length: 100 }, (_, i) => `handshake s${i}`).toSorted());
  assert.deepEqual(rig.refusals, []);
});

Deno.test("failures of which the registry is asked at once lead to a pause for those that wait to be read", async () => {
  await using rig = new ExecutorRig();
  rig.verdict = "denied";
  const harnesses = await Promise.all(Array.from({ length: 60 }, (_, i) => rig.harness(`s${i}`)));
  for (const harness of harnesses) harness.greet();
  await rig.socket.frames(60);
  assert.deepEqual(rig.sent, rig.sent.filter((sent) => sent.startsWith("reset")));
  assert(rig.questions.length < 8 + 32);
  assert.equal(rig.refusals.filter((reason) => reason === "paused").length, 60 - rig.questions.length);
});

Deno.test("data for a pending stream cannot make more than its one failure", async () => {
  await using rig = new ExecutorRig();
  (await rig.harness("s")).greet();
  await rig.question(0);
  for (let i = 0; i < 20; i++) rig.socket.deliver(encodeData("s", i, RECORD));
  assert.deepEqual(rig.sent, Array(20).fill("reset s"));
  await rig.failReads(6);
  assert.deepEqual(rig.pauses, []);
  await rig.failReads(1);
  assert.deepEqual(rig.pauses, [10_000]);
});
