/** What comes while an executor is in the middle of something: the cryptography waits here until the test has spoken. */
import assert from "node:assert/strict";
import { encodeData, encodeHandshake, encodeReset } from "../../../lib/relay/stream/frame.ts";
import { Responder } from "../../../lib/relay/noise/noise.ts";
import type { AesKey, Bytes, Primitives } from "../../../lib/relay/noise/primitives.ts";
import { StaticKeys } from "../../../lib/relay/noise/static_keys.ts";
import { executorKeys, ExecutorRig, primitives } from "../executor_rig.ts";

const RECORD = new Uint8Array(40);

/** Keys with which messages are read when `until` has resolved. */
function slowKeys(until: Promise<void>, began = () => {}): StaticKeys {
  const { x25519, mlkem768 } = executorKeys;
  return new StaticKeys(x25519, {
    public: mlkem768.public,
    async decapsulate(ciphertext) {
      began();
      await until;
      return await mlkem768.decapsulate(ciphertext);
    },
    [Symbol.dispose]() {},
  });
}

/** Primitives that call `begins` when an answer is begun, and `ends` at the last of its steps that has to be awaited. */
function answering(begins: () => void, ends = () => {}): Primitives {
  const { mlkem768 } = primitives;
  let encapsulations = 0;
  return {
    ...primitives,
    mlkem768: {
      async generate() {
        const pair = await mlkem768.generate();
        ends();
        return pair;
      },
      fromSeed: (seed) => mlkem768.fromSeed(seed),
      encapsulate(publicKey) {
        if (encapsulations++ % 2 === 0) begins();
        return mlkem768.encapsulate(publicKey);
      },
    },
  };
}

for (
  const [what, frame, sent] of [
    ["data", encodeData("s", 0, RECORD), ["reset s"]],
    ["a second handshake", encodeHandshake("s", RECORD), ["reset s"]],
    ["a reset", encodeReset("s"), []],
  ] as const
) {
  for (const verdict of ["valid", "credentialsRejected"] as const) {
    Deno.test(`${what} while the answer to ${verdict} is made: there is no answer, and no stream`, async () => {
      const made = Promise.withResolvers<void>();
      await using rig = new ExecutorRig({ used: answering(() => rig.socket.deliver(frame), made.resolve) });
      (await rig.harness("s")).greet();
      (await rig.question(0)).answer(verdict);
      await made.promise;
      await turn();
      assert.deepEqual([rig.sent, rig.opened, rig.streams.active], [sent, [], 0]);
    });
  }
}

Deno.test("where there are 128 streams when the verdict comes, no answer is made", async () => {
  let answers = 0;
  await using rig = new ExecutorRig({ used: answering(() => answers++) });
  rig.verdict = "valid";
  for (let i = 0; i < 127; i++) {
    (await rig.harness(`s${i}`)).greet();
    await rig.socket.frames(i + 1);
  }
  rig.verdict = undefined;
  (await rig.harness("late")).greet();
  const { answer } = await rig.question(127);
  rig.verdict = "valid";
  (await rig.harness("last")).greet();
  await rig.socket.frames(128);
  const before = answers;
  answer("valid");
  await rig.socket.frames(129);
  assert.deepEqual([rig.sent[128], answers - before], ["reset late", 0]);
});

Deno.test("data right behind a first message that cannot be read is one failure, not two", async () => {
  await using rig = new ExecutorRig();
  rig.socket.deliver(encodeHandshake("s", new Uint8Array(3568)));
  rig.socket.deliver(encodeData("s", 0, RECORD));
  await rig.failReads(6);
  assert.deepEqual([rig.sent[0], rig.pauses], ["reset s", []]);
  await rig.failReads(1);
  assert.deepEqual(rig.pauses, [10_000]);
  assert.deepEqual(rig.refusals, ["stream pending", ...Array(7).fill("noise_relay_protocol_error")]);
});

Deno.test("a reset in the turn in which the registry's time is over: there is nothing to be reset", async () => {
  await using rig = new ExecutorRig();
  const harness = await rig.harness("s");
  harness.greet();
  await rig.question(0);
  rig.clock.advance(10_000);
  harness.reset();
  await rig.allRead();
  assert.deepEqual([rig.sent, rig.refusals], [[], []]);
});

for (const [what, change] of [["that can be read", 0], ["that cannot be read", 1]] as const) {
  Deno.test(`the socket ends while a first message ${what} is read: the registry is not asked, and nobody refused`, async () => {
    const rig = new ExecutorRig();
    const harness = await rig.harness("s");
    harness.greet(harness.message1.with(3_560, harness.message1[3_560]! ^ change));
    rig.socket.end("connection lost");
    await rig[Symbol.asyncDispose]();
    assert.deepEqual([rig.questions, rig.refusals, rig.sent], [[], [], []]);
  });
}

Deno.test("to dispose of the streams waits until the keys are not used any more", async () => {
  const read = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const rig = new ExecutorRig({ keys: slowKeys(read.promise, began.resolve) });
  (await rig.harness("s")).greet();
  await began.promise;
  let disposed = false;
  const disposing = rig[Symbol.asyncDispose]().then(() => disposed = true);
  await turn();
  assert.equal(disposed, false);
  read.resolve();
  await disposing;
});

Deno.test("a first message that comes after the end of the socket is not read, whoever made the socket", async () => {
  let begun = 0;
  const rig = new ExecutorRig({ keys: slowKeys(Promise.resolve(), () => begun++) });
  const harness = await rig.harness("s");
  await rig.streams[Symbol.asyncDispose]();
  harness.greet();
  assert.equal(begun, 0, "the keys may have been wiped");
  await rig[Symbol.asyncDispose]();
});

Deno.test("a handshake that is given up is wiped at once, not when the registry has answered", async () => {
  const original = Responder.prototype[Symbol.dispose];
  let wiped = 0;
  Responder.prototype[Symbol.dispose] = function () {
    wiped++;
    original.call(this);
  };
  try {
    await using rig = new ExecutorRig();
    const harness = await rig.harness("s");
    harness.greet();
    await rig.question(0);
    assert.equal(wiped, 0);
    harness.reset();
    await turn();
    assert.equal(wiped, 1);
  } finally {
    Responder.prototype[Symbol.dispose] = original;
  }
});

Deno.test("the late end of an old stream does not remove a newer one with the same id", async () => {
  const opened = Promise.withResolvers<void>();
  await using rig = new ExecutorRig({ used: openingLate(opened.promise) });
  const first = await rig.open("s");
  rig.socket.deliver(encodeData("s", 0, await first.sealLong("x".repeat(20_000))));
  first.reset();
  const second = await rig.open("s");
  assert.deepEqual(rig.opened[0]!.received.ends, []);
  opened.resolve();
  assert.equal(await rig.opened[0]!.received.end(), "reset by the peer");
  assert.equal(rig.streams.active, 1);
  second.send("to the second");
  assert.equal(await rig.message(1, 0), "to the second");
  assert.deepEqual(rig.sent, ["handshake s", "handshake s"]);
});

/** Primitives with which large records are opened when `until` has resolved. */
function openingLate(until: Promise<void>): Primitives {
  return {
    ...primitives,
    aes256Gcm: {
      key(raw): AesKey {
        const key = primitives.aes256Gcm.key(raw);
        return {
          seal: (nonce, plaintext, associated) => key.seal(nonce, plaintext, associated),
          open: (nonce, ciphertext, associated) => key.open(nonce, ciphertext, associated),
          background: {
            seal: (nonce, plaintext) => Promise.resolve(key.seal(nonce, plaintext)),
            open: (nonce, ciphertext): Promise<Bytes> => until.then(() => key.open(nonce, ciphertext)),
          },
          [Symbol.dispose]: () => key[Symbol.dispose](),
        };
      },
    },
  };
}

/** Lets what has been done take effect. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
