import assert from "node:assert/strict";
import fc from "fast-check";
import { MAX_RECORD_BYTES, MAX_SEQ, TAG_BYTES } from "../../../lib/relay/limits.ts";
import { loadPrimitives } from "../../../lib/relay/noise/load_primitives.ts";
import { nonceOf } from "../../../lib/relay/noise/nonce.ts";
import { RecordCipher, RecordError } from "../../../lib/relay/noise/record_cipher.ts";
import { fromHex, loadVectors, toHex } from "../vectors/load.ts";
import { type FixedVector, type FrameVector, noblePrimitives, type Split } from "../vectors/noise.ts";

const platform = await loadPrimitives();
const noble = noblePrimitives();
const KEY = new Uint8Array(32).fill(3);
/** Sizes on both sides of every border there is. */
const SIZE = fc.oneof(fc.constantFrom(0, 1, 4095, 4096, MAX_RECORD_BYTES), fc.nat(20_000));

function sealer(first?: number): RecordCipher {
  return new RecordCipher(platform, KEY, "seal", first);
}

function opener(first?: number): RecordCipher {
  return new RecordCipher(platform, KEY, "open", first);
}

function record(size: number, mark = 0): Uint8Array<ArrayBuffer> {
  return new Uint8Array(size).fill(mark);
}

/** Repeats one direction: each recorded record opens, and its plaintext makes the same record again. */
async function repeat(key: string, records: readonly { seq: number; ciphertext: string }[]): Promise<Uint8Array[]> {
  const plaintexts: Uint8Array[] = [];
  for (const primitives of [platform, noble]) {
    plaintexts.length = 0;
    using opening = new RecordCipher(primitives, fromHex(key), "open");
    using sealing = new RecordCipher(primitives, fromHex(key), "seal");
    for (const { seq, ciphertext } of records) {
      assert.equal(opening.seq, seq);
      const plaintext = await opening.open(fromHex(ciphertext));
      assert.equal(toHex(await sealing.seal(plaintext)), ciphertext);
      plaintexts.push(plaintext);
    }
  }
  return plaintexts;
}

Deno.test("the records of the fixed handshake come out byte for byte", async () => {
  const { records, split } = loadVectors<FixedVector>("handshake-fixed.json");
  for (
    const [direction, key] of [
      ["initiator->responder", split.initiator_to_responder_key_hex],
      ["responder->initiator", split.responder_to_initiator_key_hex],
    ] as const
  ) {
    const ours = records.filter((each) => each.direction === direction);
    assert(ours.length > 0);
    const plaintexts = await repeat(
      key,
      ours.map(({ nonce, ciphertext_hex }) => ({ seq: nonce, ciphertext: ciphertext_hex })),
    );
    assert.deepEqual(plaintexts.map(toHex), ours.map(({ plaintext_hex }) => plaintext_hex));
  }
});

for (
  const name of ["real-executor-session.json", "real-executor-segmented.json", "real-harness-session.json"] as const
) {
  Deno.test(`every record of ${name} opens, and is sealed to the same bytes`, async () => {
    const { frames, split } = loadVectors<{ frames: readonly FrameVector[]; split: Split }>(name);
    await repeatRecords(frames, "harness", split.initiator_to_responder_key_hex);
    await repeatRecords(frames, "executor", split.responder_to_initiator_key_hex);
  });
}

async function repeatRecords(frames: readonly FrameVector[], from: FrameVector["from"], key: string): Promise<void> {
  const recorded = frames.filter((frame) => frame.from === from && frame.decoded.data !== undefined);
  assert(recorded.length > 0);
  const records = recorded.map(({ hex, decoded }) => ({
    seq: decoded.data!.seq,
    // The payload is the last field of a frame.
    ciphertext: hex.slice(-2 * decoded.data!.payload_len),
  }));
  const plaintexts = await repeat(key, records);
  for (const [at, { record }] of recorded.entries()) {
    assert.equal(plaintexts[at]?.length, record?.plaintext_len);
    if (record?.plaintext_hex !== undefined) assert.equal(toHex(plaintexts[at]!), record.plaintext_hex);
  }
}

Deno.test("calls count in their order, however many are under way", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(SIZE, { minLength: 1, maxLength: 12 }), async (sizes) => {
      using sealing = sealer();
      using opening = opener();
      using independent = noble.aes256Gcm.key(KEY);
      const plaintexts = sizes.map((size, at) => record(size, at));
      const sealed = await Promise.all(plaintexts.map((plaintext) => sealing.seal(plaintext)));
      assert.equal(sealing.seq, sizes.length);
      const opened = await Promise.all(sealed.map((ciphertext) => opening.open(ciphertext)));
      assert.deepEqual(opened, plaintexts);
      const small = sealed.findIndex(({ length }) => length < 2000);
      if (small >= 0) assert.deepEqual(independent.open(nonceOf(small), sealed[small]!), plaintexts[small]);
    }),
    { numRuns: 25 },
  );
});

Deno.test("a small record is there at once, a large one later", async () => {
  using sealing = sealer();
  assert(sealing.seal(record(200)) instanceof Uint8Array);
  const large = sealing.seal(record(MAX_RECORD_BYTES));
  assert(large instanceof Promise);
  await large;
});

Deno.test("without a background every record is there at once", () => {
  using sealing = new RecordCipher(noble, KEY, "seal");
  assert(sealing.seal(record(9000)) instanceof Uint8Array);
});

Deno.test("a record is never sealed the same way twice", async () => {
  using sealing = sealer();
  const sealed = await Promise.all([200, 200, 9000, 9000].map((size) => sealing.seal(record(size))));
  assert.equal(new Set(sealed.map(toHex)).size, 4);
});

Deno.test("records that are dropped, repeated or swapped do not open", async () => {
  for (const size of [10, 9000]) {
    using sealing = sealer();
    const [first, second] = [await sealing.seal(record(size)), await sealing.seal(record(size))];
    for (const received of [[second], [first, first], [second, first]]) {
      using opening = opener();
      const results = await Promise.allSettled(received.map(async (ciphertext) => await opening.open(ciphertext)));
      const last = results.at(-1);
      assert(last?.status === "rejected" && last.reason instanceof RecordError);
    }
  }
});

Deno.test("after a record that does not open nothing opens any more", async () => {
  for (const size of [10, 9000]) {
    using sealing = sealer();
    const good = [await sealing.seal(record(size)), await sealing.seal(record(size)), await sealing.seal(record(size))];
    using opening = opener();
    await opening.open(good[0]!);
    const bad = good[1]!.map((byte, at) => at === 0 ? byte ^ 1 : byte);
    await assert.rejects(async () => await opening.open(bad), RecordError);
    assert.throws(() => opening.open(good[1]!), RecordError);
    assert.throws(() => opening.open(good[2]!), RecordError);
  }
});

Deno.test("a failure takes back what came behind it, and leaves what came before", async () => {
  using sealing = sealer();
  const good = await Promise.all([0, 1, 2].map((mark) => sealing.seal(record(9000, mark))));
  using opening = opener();
  const before = opening.open(good[0]!);
  const failing = opening.open(good[1]!.map((byte, at) => at === 5 ? byte ^ 1 : byte));
  const behind = opening.open(good[2]!);
  await assert.rejects(async () => await failing, RecordError);
  assert.deepEqual(await before, record(9000, 0));
  await assert.rejects(async () => await behind, RecordError);
});

Deno.test("results are given in the order of the calls, small ones behind large ones too", async () => {
  using sealing = sealer();
  const sizes = [MAX_RECORD_BYTES, 10, 4096, 10, MAX_RECORD_BYTES, 0];
  const order: number[] = [];
  const answers = sizes.map((size) => sealing.seal(record(size)));
  await Promise.all(answers.map(async (answer, at) => {
    assert(answer instanceof Promise);
    await answer;
    order.push(at);
  }));
  assert.deepEqual(order, [0, 1, 2, 3, 4, 5]);
});

Deno.test("a small record behind a large one that does not open is not given out", async () => {
  using sealing = sealer();
  const [large, small, next] = [
    await sealing.seal(record(9000)),
    await sealing.seal(record(10)),
    await sealing.seal(record(10)),
  ];
  using opening = opener();
  const failing = opening.open(large.map((byte, at) => at === 0 ? byte ^ 1 : byte));
  const behind = opening.open(small);
  const bad = opening.open(next.map((byte) => byte ^ 1));
  for (const result of [failing, behind, bad]) await assert.rejects(async () => await result, RecordError);
  assert.throws(() => opening.open(next), RecordError);
});

Deno.test("a small record that does not open leaves the large one before it", async () => {
  using sealing = sealer();
  const [large, small] = [await sealing.seal(record(9000)), await sealing.seal(record(10))];
  using opening = opener();
  const before = opening.open(large);
  const failing = opening.open(small.map((byte) => byte ^ 1));
  assert.deepEqual(await before, record(9000));
  await assert.rejects(async () => await failing, RecordError);
});

Deno.test("once all promises have settled a small record is there at once again", async () => {
  using sealing = sealer();
  await sealing.seal(record(9000));
  // The cipher hears of the end of a promise after whoever waits for it.
  await new Promise((resolve) => setTimeout(resolve));
  assert(sealing.seal(record(10)) instanceof Uint8Array);
});

Deno.test("a result that nobody waits for does not end the process when it fails", async () => {
  using opening = opener();
  opening.open(record(9000));
  const last = opening.open(record(9000));
  await assert.rejects(async () => await last, RecordError);
});

Deno.test("any damage to a record is found", async () => {
  for (const size of [100, 9000]) {
    using sealing = sealer();
    const good = await sealing.seal(record(size, 7));
    const bad = fc.oneof(
      fc.nat(good.length * 8 - 1).map((bit) => good.map((byte, at) => at === bit >> 3 ? byte ^ 1 << (bit & 7) : byte)),
      fc.nat(good.length - 1).map((length) => good.slice(0, length)),
      fc.constant(Uint8Array.of(...good, 0)),
    );
    await fc.assert(
      fc.asyncProperty(bad, async (ciphertext) => {
        using opening = opener();
        await assert.rejects(async () => await opening.open(ciphertext), RecordError);
      }),
      { numRuns: 30 },
    );
  }
});

Deno.test("a record has a largest size, on both sides", async () => {
  using sealing = sealer();
  assert.throws(() => sealing.seal(record(MAX_RECORD_BYTES + 1)), RangeError);
  assert.equal((await sealing.seal(record(MAX_RECORD_BYTES))).length, MAX_RECORD_BYTES + TAG_BYTES);
  assert.equal(sealing.seq, 1);
  const key = platform.aes256Gcm.key(KEY);
  const tooLong = key.seal(nonceOf(0), record(MAX_RECORD_BYTES + 1));
  using opening = opener();
  assert.throws(() => opening.open(tooLong), RecordError);
  assert.throws(() => opening.open(key.seal(nonceOf(0), record(1))), RecordError);
});

Deno.test("the last sequence number is used, and none after it", async () => {
  for (const size of [10, 9000]) {
    using sealing = sealer(MAX_SEQ);
    using opening = opener(MAX_SEQ);
    const last = await sealing.seal(record(size));
    assert.throws(() => sealing.seal(record(size)), RecordError);
    assert.deepEqual(await opening.open(last), record(size));
    assert.throws(() => opening.open(last), RecordError);
  }
});

Deno.test("a cipher that was disposed of does nothing more, and what was under way comes to nothing", async () => {
  const sealing = sealer();
  const underWay = sealing.seal(record(9000));
  sealing[Symbol.dispose]();
  await assert.rejects(async () => await underWay, RecordError);
  assert.throws(() => sealing.seal(record(10)), RecordError);
  assert.throws(() => sealing.seal(record(9000)), RecordError);
  sealing[Symbol.dispose]();
});

Deno.test("a cipher keeps a copy of its key", async () => {
  const key = KEY.slice();
  using sealing = new RecordCipher(platform, key, "seal");
  key.fill(0);
  using opening = opener();
  assert.deepEqual(await opening.open(await sealing.seal(record(9000))), record(9000));
});

Deno.test("a cipher of one direction does not serve the other", () => {
  using sealing = sealer();
  assert.throws(() => sealing.open(record(50)), /cannot open/);
  using opening = opener();
  assert.throws(() => opening.seal(record(50)), /cannot seal/);
});

Deno.test("a cipher cannot be printed", () => {
  using sealing = sealer();
  assert.equal(Deno.inspect(sealing, { showHidden: true, getters: true }), "[RecordCipher]");
  assert.equal(JSON.stringify({ sealing }), '{"sealing":"[RecordCipher]"}');
});
