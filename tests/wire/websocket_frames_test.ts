import assert from "node:assert/strict";
import fc from "fast-check";
import { encodeFrame, FrameDecoder, OPCODE } from "./websocket_frames.ts";

Deno.test("frames come out as they went in, however the bytes are cut", () => {
  const frames = fc.array(fc.record({ fin: fc.boolean(), payload: fc.uint8Array({ maxLength: 300 }) }));
  fc.assert(fc.property(frames, fc.integer({ min: 1, max: 50 }), (frames, step) => {
    const bytes = frames.flatMap((
      { fin, payload },
    ) => [...encodeFrame(OPCODE.binary, payload, { fin, masked: false })]);
    const decoder = new FrameDecoder();
    const decoded = [];
    for (let at = 0; at < bytes.length; at += step) {
      decoded.push(...decoder.push(Uint8Array.from(bytes.slice(at, at + step))));
    }
    assert.deepEqual(
      decoded.map(({ fin, payload }) => ({ fin, payload: [...payload] })),
      frames.map(({ fin, payload }) => ({ fin, payload: [...payload] })),
    );
  }));
});

Deno.test("a frame has the length form that its payload needs", () => {
  const header = (
    length: number,
  ) => [...encodeFrame(OPCODE.text, new Uint8Array(length), { masked: false }).subarray(0, 2)];
  assert.deepEqual([0, 125, 126, 65_535, 65_536].map(header), [[129, 0], [129, 125], [129, 126], [129, 126], [
    129,
    127,
  ]]);
});

Deno.test("a masked frame from a server is an error", () => {
  assert.throws(() => new FrameDecoder().push(encodeFrame(OPCODE.text, new Uint8Array(1))), /masked/);
});
