import assert from "node:assert/strict";
import { BINARY, clientFrame, CONTINUATION, Masks, TEXT } from "../../../lib/relay/socket/client_frame.ts";

const MASK = Uint8Array.of(1, 0x80, 0, 0xff);

/** The payload of a frame, byte by byte as the standard says. */
function unmasked(frame: Uint8Array, header: number): number[] {
  return Array.from(frame.subarray(header), (byte, index) => byte ^ frame[header - 4 + index % 4]!);
}

Deno.test("a client's frame is the standard's example", () => {
  // RFC 6455, 5.7: a single-frame masked text message that contains "Hello".
  const frame = clientFrame(TEXT, new TextEncoder().encode("Hello"), true, Uint8Array.fromHex("37fa213d"));
  assert.equal(frame.toHex(), "818537fa213d7f9f4d5158");
});

Deno.test("a client's frame has the shortest header, and its payload behind the mask", () => {
  const headers = {
    0: "0280",
    1: "0281",
    125: "02fd",
    126: "02fe007e",
    65_535: "02feffff",
    65_536: "02ff0000000000010000",
  };
  for (const [size, header] of Object.entries(headers)) {
    const payload = Uint8Array.from({ length: Number(size) }, (_, index) => index * 7);
    const frame = clientFrame(BINARY, payload, false, MASK);
    assert.equal(frame.subarray(0, header.length / 2).toHex(), header);
    assert.deepEqual(frame.subarray(header.length / 2, header.length / 2 + 4), MASK);
    assert.deepEqual(unmasked(frame, header.length / 2 + 4), Array.from(payload));
    assert.equal(frame[0]! | 0x80, clientFrame(BINARY, payload, true, MASK)[0]);
  }
});

Deno.test("a client's frame leaves the payload as it is", () => {
  const payload = new Uint8Array(new ArrayBuffer(8), 1, 6).fill(9);
  const frame = clientFrame(CONTINUATION, payload, true, MASK);
  assert.deepEqual(payload, new Uint8Array(6).fill(9));
  assert.deepEqual(unmasked(frame, 6), Array(6).fill(9));
});

Deno.test("a client's frame is made in the payload's own buffer, where that may be and there is room", () => {
  for (const length of [0, 5, 130, 70_000]) {
    const buffer = new ArrayBuffer(16 + length + 3);
    const payload = new Uint8Array(buffer, 16, length).fill(9);
    const copied = clientFrame(BINARY, payload, true, MASK);
    assert.deepEqual(payload, new Uint8Array(length).fill(9));
    const inPlace = clientFrame(BINARY, payload, true, MASK, true);
    assert.deepEqual(inPlace, copied);
    assert.ok(inPlace.buffer === buffer);
  }
  const tight = new Uint8Array(new ArrayBuffer(16 + 5), 16, 5);
  assert.ok(clientFrame(BINARY, tight, true, MASK, true).buffer !== tight.buffer);
});

Deno.test("Masks are different each time", () => {
  const masks = new Masks();
  const seen = new Set(Array.from({ length: 3000 }, () => masks.next().toHex()));
  assert.ok(seen.size > 2990);
  assert.ok([...seen].every((mask) => mask.length === 8));
});
