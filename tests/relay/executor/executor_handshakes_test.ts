import assert from "node:assert/strict";
import { CredentialError } from "../../../lib/relay/credential.ts";
import { encodeData, encodeHandshake } from "../../../lib/relay/stream/frame.ts";
import { REJECTED_PAYLOAD } from "../../../lib/relay/noise/noise.ts";
import { StaticKeys } from "../../../lib/relay/noise/static_keys.ts";
import type { Verdict } from "../../../lib/relay/executor/stream_host.ts";
import { ExecutorRig, harnessKeys, type HarnessOptions, primitives } from "../executor_rig.ts";

const RECORD = new Uint8Array(40);

Deno.test("the registry is asked about the key and the authorization that were in the same first message", async () => {
  await using rig = new ExecutorRig();
  (await rig.harness("s", { authorization: "let me in" })).greet();
  const { request } = await rig.question(0);
  assert.deepEqual(request, { harness: harnessKeys.public, authorization: "let me in", streamId: "s" });
});

for (const verdict of ["denied", "something else", true] as Verdict[]) {
  Deno.test(`a harness of which the registry says ${verdict} is reset, and has cost one failure`, async () => {
    await using rig = new ExecutorRig();
    await rig.failReads(7);
    (await rig.harness("s")).greet();
    (await rig.question(0)).answer(verdict);
    assert.equal((await rig.socket.frames(8))[7]!.kind, "reset");
    assert.deepEqual(rig.pauses, [10_000]);
    assert.equal(rig.questions.length, 1);
    assert.equal(rig.opened.length, 0);
  });
}

for (
  const [error, reason] of [
    [new Error("no answer"), "validation failed"],
    [new CredentialError("it is expired"), "executor credentials unavailable"],
  ] as const
) {
  Deno.test(`a harness about which the registry cannot be asked (${reason}) is reset, and has cost one failure`, async () => {
    await using rig = new ExecutorRig();
    await rig.failReads(7);
    (await rig.harness("s")).greet();
    (await rig.question(0)).fail(error);
    assert.equal((await rig.socket.frames(8))[7]!.kind, "reset");
    assert.equal(rig.refusals.at(-1), reason);
    assert.deepEqual(rig.pauses, [10_000]);
  });
}

Deno.test("a harness learns, with authentication, that the registry refuses our credential; it has no stream", async () => {
  await using rig = new ExecutorRig();
  await rig.failReads(7);
  const harness = await rig.harness("s");
  harness.greet();
  (await rig.question(0)).answer("credentialsRejected");
  const [, , , , , , , frame] = await rig.socket.frames(8);
  assert(frame?.kind === "handshake");
  assert.equal(frame.payload.length, 3465);
  assert.deepEqual(await harness.finish(frame), REJECTED_PAYLOAD);
  assert.deepEqual([rig.opened.length, rig.streams.active], [0, 0]);
  assert.deepEqual(rig.pauses, [10_000]);
  harness.send("am I in?");
  assert.equal(rig.sent.at(-1), "reset s");
});

Deno.test("a registry that does not answer has ten seconds", async () => {
  await using rig = new ExecutorRig();
  (await rig.harness("s")).greet();
  const { signal } = await rig.question(0);
  rig.clock.advance(9_999);
  assert.equal(signal.aborted, false);
  rig.clock.advance(1);
  await rig.socket.frames(1);
  assert.deepEqual(rig.sent, ["reset s"]);
  assert.equal(signal.aborted, true);
  assert.deepEqual(rig.refusals, ["validation failed"]);
});

async function unreadable(change: HarnessOptions | ((message: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>)) {
  await using rig = new ExecutorRig();
  await rig.failReads(7);
  const harness = await rig.harness("s", typeof change === "function" ? {} : change);
  harness.greet(typeof change === "function" ? change(harness.message1) : harness.message1);
  await rig.socket.frames(8);
  assert.equal(rig.sent[7], "reset s");
  assert.equal(rig.refusals.at(-1), "noise_relay_protocol_error");
  assert.deepEqual(rig.pauses, [10_000], "it was not counted");
  assert.equal(rig.questions.length, 0, "the registry was asked");
}

Deno.test("a first message for another executor is reset, counted, and not shown to the registry", async () => {
  await unreadable({ executor: (await StaticKeys.generate(primitives)).public });
});

for (const context of [{ environmentId: "env-2" }, { registrationId: "registration-2" }, { streamId: "t" }]) {
  Deno.test(`a first message for another ${Object.keys(context)[0]} is reset, counted, and not shown to the registry`, async () => {
    await unreadable({ context });
  });
}

// One bit in each part of the message: skem, e, s and payload, each with both keys and tags.
for (const at of [0, 1_087, 1_088, 1_120, 2_303, 2_304, 2_351, 2_352, 3_551, 3_552, 3_568]) {
  Deno.test(`a first message with another bit at byte ${at} is reset, counted, and not shown to the registry`, async () => {
    await unreadable((message) => message.with(at, message[at]! ^ 1));
  });
}

for (const [length, what] of [[1, "one byte"], [3_567, "a byte less than the shortest"], [65_536, "too many bytes"]]) {
  Deno.test(`a first message of ${what} is reset, counted, and not shown to the registry`, async () => {
    await unreadable(() => new Uint8Array(Number(length)));
  });
}

Deno.test("an authorization may have 4096 bytes, or none", async () => {
  await using rig = new ExecutorRig();
  for (const [index, authorization] of ["ö".repeat(2048), "", "\ufeffa"].entries()) {
    (await rig.harness(`s${index}`, { authorization })).greet();
    assert.equal((await rig.question(index)).request.authorization, authorization);
  }
});

Deno.test("an authorization of 4097 bytes is reset, counted, and not shown to the registry", async () => {
  await unreadable({ authorization: "a".repeat(4097) });
});

Deno.test("an authorization that is not UTF-8 is reset, counted, and not shown to the registry", async () => {
  // The encoder of a test that only knows UTF-8 is taken in: the bytes are sealed as they come.
  const encode = TextEncoder.prototype.encode;
  TextEncoder.prototype.encode = function (text = "") {
    return text === "not UTF-8" ? Uint8Array.of(0xc3, 0x28) : encode.call(this, text);
  };
  try {
    await unreadable({ authorization: "not UTF-8" });
  } finally {
    TextEncoder.prototype.encode = encode;
  }
});

Deno.test("a replayed first message is validated anew and answered by another message 2", async () => {
  await using rig = new ExecutorRig();
  const harness = await rig.open("s");
  harness.reset();
  harness.greet();
  (await rig.question(1)).answer("valid");
  const [first, second] = await rig.socket.frames(2);
  assert(first?.kind === "handshake" && second?.kind === "handshake");
  assert.notDeepEqual(first.payload, second.payload);
});

Deno.test("a replayed first message has no part in an earlier verdict", async () => {
  await using rig = new ExecutorRig();
  const harness = await rig.open("s");
  harness.reset();
  harness.greet();
  (await rig.question(1)).answer("denied");
  await rig.socket.frames(2);
  assert.deepEqual(rig.sent, ["handshake s", "reset s"]);
});

Deno.test("a handshake on an active stream is reset, while the stream goes on, and costs nothing", async () => {
  await using rig = new ExecutorRig();
  const harness = await rig.open("s");
  for (let i = 0; i < 20; i++) harness.greet();
  assert.deepEqual(rig.sent.slice(1), Array(20).fill("reset s"));
  assert.deepEqual(rig.pauses, []);
  harness.send("still here");
  assert.equal(await rig.message(0, 0), "still here");
  assert.equal(rig.questions.length, 1);
});

for (
  const [what, interrupt, answer] of [
    ["a second handshake", () => encodeHandshake("s", RECORD), ["reset s"]],
    ["data", () => encodeData("s", 0, RECORD), ["reset s"]],
  ] as const
) {
  Deno.test(`${what} during the validation is reset; the verdict is nobody's then, and it counts as a failure`, async () => {
    await using rig = new ExecutorRig();
    await rig.failReads(7);
    (await rig.harness("s")).greet();
    const question = await rig.question(0);
    rig.socket.deliver(interrupt());
    assert.deepEqual(rig.sent.slice(7), answer);
    assert.deepEqual([rig.refusals.at(-1), rig.pauses], ["stream pending", [10_000]]);
    assert.equal(question.signal.aborted, false);
    question.answer("valid");
    rig.clock.advance(10_000);
    await rig.allRead();
    assert.deepEqual([rig.opened, rig.sent.slice(8)], [[], []]);
  });
}

Deno.test("a reset during the validation is answered by nothing; the verdict is nobody's then, and it costs nothing", async () => {
  await using rig = new ExecutorRig();
  for (let i = 0; i < 20; i++) {
    const harness = await rig.harness("s");
    harness.greet();
    const { answer } = await rig.question(i);
    harness.reset();
    answer("valid");
  }
  await rig.allRead();
  assert.deepEqual([rig.sent, rig.opened, rig.pauses, rig.refusals], [[], [], [], []]);
});

Deno.test("the verdict of an abandoned handshake is not taken for that of a newer one with the same stream id", async () => {
  await using rig = new ExecutorRig();
  const first = await rig.harness("s");
  first.greet();
  const early = await rig.question(0);
  first.reset();
  const second = await rig.harness("s");
  second.greet();
  const late = await rig.question(1);
  early.answer("valid");
  await rig.allRead();
  assert.deepEqual(rig.sent, []);
  late.answer("valid");
  await second.finish((await rig.socket.frames(1))[0]);
});

Deno.test("a denial of an abandoned handshake does not end a newer one with the same stream id", async () => {
  await using rig = new ExecutorRig();
  const first = await rig.harness("s");
  first.greet();
  const early = await rig.question(0);
  first.reset();
  const second = await rig.harness("s");
  second.greet();
  early.answer("denied");
  (await rig.question(1)).answer("valid");
  await second.finish((await rig.socket.frames(1))[0]);
  assert.deepEqual(rig.refusals, []);
});

for (const what of ["data", "a second handshake"]) {
  Deno.test(`${what} right behind a handshake finds it pending: it is reset and counts as a failure`, async () => {
    await using rig = new ExecutorRig();
    await rig.failReads(7);
    const harness = await rig.harness("s");
    harness.greet();
    rig.socket.deliver(what === "data" ? encodeData("s", 0, RECORD) : encodeHandshake("s", harness.message1));
    assert.deepEqual([rig.sent.slice(7), rig.pauses], [["reset s"], [10_000]]);
    rig.clock.advance(10_000);
    (await rig.question(0)).answer("valid");
    await rig.allRead();
    assert.deepEqual([rig.opened, rig.sent.length], [[], 8]);
  });
}

Deno.test("a handshake that is reset while its message is read has cost a failure if that could not be read", async () => {
  await using rig = new ExecutorRig();
  for (let i = 0; i < 8; i++) {
    const harness = await rig.harness("s");
    harness.greet(harness.message1.with(3_552, harness.message1[3_552]! ^ 1));
    harness.reset();
    if (i < 7) await rig.allRead();
  }
  await rig.failReads(1);
  assert.deepEqual(rig.pauses, [10_000]);
  assert.deepEqual(rig.sent, ["reset unreadable 0"]);
});
