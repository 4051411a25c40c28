import assert from "node:assert/strict";
import fc from "fast-check";
import { type DataFrame, decodeFrame } from "../../../lib/relay/stream/frame.ts";
import { StreamEnd, streamTest } from "../support/stream_end.ts";

/** Mostly small messages, some of a record and more, so that records are opened at once and in the background. */
const message = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 60 }) },
  { weight: 2, arbitrary: fc.integer({ min: 8_000, max: 62_000 }).map((length) => "a".repeat(length)) },
  { weight: 1, arbitrary: fc.integer({ min: 100_000, max: 300_000 }).map((length) => "é".repeat(length)) },
);

streamTest("RelayStream delivers every message once and in order, whatever delays and repeats its frames", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(message, { minLength: 1, maxLength: 20 }),
      fc.infiniteStream(fc.nat(8)),
      fc.infiniteStream(fc.nat(5)),
      async (messages, delays, repeats) => {
        const sender = new StreamEnd("executor").start();
        for (const text of messages) sender.stream.send(text);
        sender.stream.close();
        await sender.socket.whenSent(messages.length + 1);
        while (sender.left.length === 0) await new Promise((resolve) => setTimeout(resolve, 0));
        const frames = sender.socket.sent.slice(0, -1).map((bytes) => decodeFrame(bytes) as DataFrame);

        // Each frame is late by so many places; some come again, a while later.
        const copies = frames.flatMap((frame, index) => {
          const first = { frame, place: index + delays.next().value };
          return repeats.next().value === 0 ? [first, { frame, place: first.place + delays.next().value }] : [first];
        }).sort((a, b) => a.place - b.place);
        const receiver = new StreamEnd("harness").start();
        for (const { frame } of copies) receiver.stream.receive(frame);
        receiver.stream.peerReset();
        await receiver.ended;
        assert.deepEqual(receiver.ends, [{ reason: "reset by the peer" }]);
        assert.deepEqual(receiver.texts, messages.map((text) => text.toWellFormed()));
        assert.equal(receiver.budget.heldBytes, 0);
      },
    ),
    { numRuns: 60 },
  );
});

streamTest(
  "RelayStream delivers a beginning of what was sent, and nothing else, when any bit of any frame is flipped",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 12 }),
        fc.nat(),
        fc.nat(),
        async (messages, which, bit) => {
          const sender = new StreamEnd("executor").start();
          for (const text of messages) sender.stream.send(text);
          const receiver = new StreamEnd("harness").start();
          for (const [index, bytes] of sender.socket.sent.entries()) {
            const changed = bytes.slice();
            if (index === which % messages.length) changed[bit % bytes.length]! ^= 1 << (bit % 8);
            const frame = decodeFrame(changed);
            if (frame?.kind === "data" && frame.streamId === "stream") receiver.stream.receive(frame);
          }
          receiver.stream.peerReset();
          await receiver.ended;
          const { length } = receiver.texts;
          assert.deepEqual(receiver.texts, messages.slice(0, length));
          sender.stream.peerReset();
        },
      ),
      { numRuns: 100 },
    );
  },
);
