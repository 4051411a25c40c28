import assert from "node:assert/strict";
import fc from "fast-check";
import { OutgoingBytes } from "../../lib/rpc/outgoing_bytes.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

type Step = { add: string } | { skip: number } | { take: true };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ add: fc.string({ unit: "binary", maxLength: 200 }).map((text) => text.toWellFormed()) }),
  fc.record({ add: fc.string({ unit: fc.constantFrom("a", "é", "語", "😀"), maxLength: 200_000 }) }),
  fc.record({ skip: fc.nat(300) }),
  fc.record({ take: fc.constant(true as const) }),
);

Deno.test("OutgoingBytes gives back every line once, in order, whatever is skipped, taken and added in between", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const outgoing = new OutgoingBytes();
      let model = new Uint8Array(0);
      let taken: { bytes: Uint8Array; text: string } | undefined;
      for (const step of steps) {
        if ("add" in step) {
          model = Uint8Array.from([...model, ...encoder.encode(`${step.add}\n`)]);
          assert.deepEqual(decoder.decode(outgoing.addLine(step.add)), decoder.decode(model));
        } else if ("skip" in step) {
          const count = Math.min(step.skip, model.length);
          outgoing.skip(count);
          model = model.slice(count);
        } else {
          const bytes = outgoing.take();
          taken = { bytes, text: decoder.decode(model) };
          model = new Uint8Array(0);
        }
        assert.equal(outgoing.length, model.length);
        if (taken !== undefined) assert.equal(decoder.decode(taken.bytes), taken.text);
      }
    }),
    { numRuns: 60 },
  );
});
