import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type DataFrame,
  decodeFrame,
  encodeData,
  encodeHandshake,
  encodeReset,
  encodeResume,
} from "../../../lib/relay/stream/frame.ts";
import { MAX_FRAME_BYTES, MAX_RECORD_BYTES, TAG_BYTES } from "../../../lib/relay/limits.ts";
import { fromHex, loadVectors, toHex } from "../vectors/load.ts";

interface Recorded {
  readonly name: string;
  readonly hex: string;
  readonly verdict: string;
  readonly fields?: {
    readonly streamId?: string;
    readonly data?: { readonly seq?: number; readonly payload?: string };
    readonly handshake?: { readonly payload?: string };
    readonly resume?: { readonly nextSeq?: number };
    readonly reset?: object;
    readonly heartbeat?: object;
    readonly ackFrame?: object;
    readonly traceparent?: string;
    readonly tracestate?: string;
  };
}

const { frames } = loadVectors<{ frames: Recorded[] }>("frames.json");

for (const { name, hex, verdict, fields = {} } of frames) {
  const valid = verdict.startsWith("valid");
  Deno.test(`decodeFrame() ${valid ? "reads" : "refuses"} the recorded frame: ${name}`, () => {
    const frame = decodeFrame(fromHex(hex));
    if (!valid) return assert.ok(frame === undefined || frame.kind === "invalid", JSON.stringify(frame));
    assert.ok(frame !== undefined && frame.kind !== "invalid");
    const { data, handshake, streamId, traceparent, tracestate } = fields;
    if (streamId !== undefined) assert.equal(frame.streamId, streamId);
    assert.equal(frame.traceparent, traceparent);
    assert.equal(frame.tracestate, tracestate);
    const kind = Object.keys(fields).find((key) => key in KINDS) as keyof typeof KINDS | undefined;
    if (kind !== undefined) assert.equal(frame.kind, KINDS[kind]);
    if (data !== undefined) {
      const { seq, payload } = frame as DataFrame;
      assert.deepEqual({ seq, payload: toHex(payload) }, { seq: data.seq ?? 0, payload: data.payload });
    }
    if (frame.kind === "handshake") assert.equal(toHex(frame.payload), handshake?.payload);
  });
}

const KINDS = {
  data: "data",
  handshake: "handshake",
  resume: "resume",
  reset: "reset",
  heartbeat: "heartbeat",
  ackFrame: "ack",
} as const;

Deno.test("decodeFrame() tells bytes that are no frame from an invalid frame of a stream", () => {
  const recorded = (name: string) => fromHex(frames.find((frame) => frame.name === name)!.hex);
  assert.equal(decodeFrame(recorded("not protobuf")), undefined);
  const { streamId } = frames[0]!.fields!;
  assert.deepEqual(decodeFrame(recorded("version 2")), { kind: "invalid", streamId });
  assert.deepEqual(decodeFrame(recorded("no body")), { kind: "invalid", streamId });
  assert.deepEqual(decodeFrame(recorded("stream_id missing")), { kind: "invalid", streamId: "" });
});

/** What the reference executor 0.171.0 did with each, its stream being unknown: a reset, or nothing. */
const DATA = "2a0718012203010203";
const HEAD = "0801120158";
const CORNERS: readonly [name: string, hex: string, valid: boolean][] = [
  ["a known field of another wire type", `${HEAD}1a0101${DATA}`, false],
  ["a known field as a group", `${HEAD}${DATA}6364`, false],
  ["an unknown varint", `${HEAD}${DATA}6801`, true],
  ["unknown eight bytes", `${HEAD}${DATA}690102030405060708`, true],
  ["unknown four bytes", `${HEAD}${DATA}6d01020304`, true],
  ["wire type 6", `${HEAD}${DATA}6e01`, false],
  ["wire type 7", `${HEAD}${DATA}6f01`, false],
  ["field number 0", `${HEAD}${DATA}0001`, false],
  ["a group", `${HEAD}${DATA}a301a401`, true],
  ["the end of no group", `${HEAD}${DATA}a401`, false],
  ["a group that another ends", `${HEAD}${DATA}a301ac01`, false],
  ["a group without an end", `${HEAD}${DATA}a301`, false],
  ["groups 100 deep", `${HEAD}${DATA}${"a301".repeat(100)}${"a401".repeat(100)}`, true],
  ["groups 101 deep", `${HEAD}${DATA}${"a301".repeat(101)}${"a401".repeat(101)}`, false],
  ["groups 65000 deep", `${HEAD}${DATA}${"a301".repeat(65000)}${"a401".repeat(65000)}`, false],
  ["a key of ten bytes", `${HEAD}${DATA}e880808080808080800001`, true],
  ["a key of eleven bytes", `${HEAD}${DATA}e88080808080808080800001`, false],
  ["a key above 32 bits", `${HEAD}${DATA}e88080801001`, false],
  ["a length of ten bytes", `0801128180808080808080800058${DATA}`, true],
  ["a length beyond the end", `${HEAD}${DATA}6a0501`, false],
  ["a length near 2^64", `${HEAD}${DATA}6affffffffffffffffff01`, false],
  ["a version of ten bytes", `0881808080808080808000120158${DATA}`, true],
  ["a version of eleven bytes", `088180808080808080808000120158${DATA}`, false],
  ["a version above 64 bits", `0881808080808080808002120158${DATA}`, false],
  ["an unknown varint of eleven bytes", `${HEAD}${DATA}688180808080808080808000`, false],
  ["an unknown varint above 64 bits", `${HEAD}${DATA}6881808080808080808002`, false],
  ["a cut varint", `${HEAD}${DATA}6881`, false],
  ["invalid UTF-8 in the stream id", `08011201ff${DATA}`, false],
  ["invalid UTF-8 in traceparent", `${HEAD}${DATA}5a01ff`, false],
  ["a surrogate in tracestate", `${HEAD}${DATA}6203eda080`, false],
  ["invalid UTF-8 in a reset that does not count", `${HEAD}42030a01ff${DATA}`, false],
  ["a reset before the data", `${HEAD}42030a0178${DATA}`, true],
  ["data in two parts", `${HEAD}2a0218012a052203010203`, true],
  ["data in two parts and a heartbeat between", `${HEAD}2a0218014a002a052203010203`, false],
  ["an empty payload at last", `${HEAD}${DATA}2a022200`, false],
  ["an unknown field in the data", `${HEAD}2a09180122030102034801`, true],
  ["data longer than the frame", `${HEAD}2a0918012203010203`, false],
  ["a payload longer than the data", `${HEAD}2a05180122020707`, false],
  ["a heartbeat with content", `${HEAD}4a020801${DATA}`, true],
  ["a heartbeat with garbage", `${HEAD}4a0107${DATA}`, false],
  ["the version twice", `0802${HEAD}${DATA}`, true],
  ["the fields in reverse", `${DATA}1201580801`, true],
  ["a segment count of 2^32 + 1", `${HEAD}2a0b1881808080102203010203`, true],
  ["a stream id of NEL", `08011202c285${DATA}`, false],
  ["a stream id of no-break space", `08011202c2a0${DATA}`, false],
  ["a stream id of ideographic space", `08011203e38080${DATA}`, false],
  ["a stream id of a byte order mark", `08011203efbbbf${DATA}`, true],
  ["a stream id of zero width space", `08011203e2808b${DATA}`, true],
  ["a stream id of NUL", `0801120100${DATA}`, true],
];

for (const [name, hex, valid] of CORNERS) {
  Deno.test(`decodeFrame() ${valid ? "reads" : "refuses"} a data frame with ${name}, as the reference does`, () => {
    const frame = decodeFrame(fromHex(hex));
    assert.equal(frame?.kind === "data", valid, JSON.stringify(frame));
    if (valid) assert.deepEqual([...(frame as DataFrame).payload], [1, 2, 3]);
  });
}

Deno.test("decodeFrame() reads a message of the largest size, and none above", () => {
  const data = encodeData("x", 0, new Uint8Array(1000));
  // Field 13, unknown, fills the message.
  const filled = (bytes: number) => {
    const message = new Uint8Array(bytes);
    message.set(data);
    const rest = bytes - data.length - 4;
    message.set([0x6a, rest & 0x7f | 0x80, rest >> 7 & 0x7f | 0x80, rest >> 14], data.length);
    return message;
  };
  assert.equal(decodeFrame(filled(MAX_FRAME_BYTES))?.kind, "data");
  assert.equal(decodeFrame(filled(MAX_FRAME_BYTES + 1)), undefined);
});

Deno.test("decodeFrame() reads what was encoded, and never throws at anything else", () => {
  const bytes = (maxLength: number) => fc.uint8Array({ maxLength });
  fc.assert(fc.property(
    fc.string({ unit: "binary", minLength: 1 }).filter((text) => text.trim() !== ""),
    fc.integer({ min: 0, max: 0xffff_ffff }),
    fc.uint8Array({ minLength: 1, maxLength: 300 }),
    (streamId, seq, payload) => {
      const data = decodeFrame(encodeData(streamId, seq, payload)) as DataFrame;
      assert.deepEqual(data, { kind: "data", streamId: streamId.toWellFormed(), seq, payload });
      assert.deepEqual(decodeFrame(encodeHandshake(streamId, payload)), {
        kind: "handshake",
        streamId: streamId.toWellFormed(),
        payload,
      });
    },
  ));
  fc.assert(fc.property(bytes(200), (message) => void decodeFrame(message as Uint8Array<ArrayBuffer>)));
  const valid = encodeData("5f0c7a52-6d0e-4c4e-9d53-0a4b1f2c3d4e", 3, new Uint8Array(20).fill(7));
  fc.assert(fc.property(fc.nat(valid.length - 1), fc.nat(255), fc.nat(valid.length), (at, byte, length) => {
    const message = valid.slice(0, Math.max(length, at + 1));
    message[at] = byte;
    decodeFrame(message);
  }));
});

Deno.test("Frames are encoded as the peers encode them: fields in order, zeros left out", () => {
  const id = "5f0c7a52-6d0e-4c4e-9d53-0a4b1f2c3d4e";
  const payload = new TextEncoder().encode("ciphertext-bytes-16+");
  const recorded = (name: string) => frames.find((frame) => frame.name === name)!.hex;
  assert.equal(toHex(encodeResume(id)), recorded("resume"));
  assert.equal(toHex(encodeReset(id)), recorded("reset"));
  assert.equal(toHex(encodeData(id, 0, payload)), recorded("data seq=0"));
  assert.equal(toHex(encodeData(id, 300, payload)), recorded("data seq=300"));
  assert.equal(toHex(encodeHandshake(id, payload)), recorded("handshake (20 byte payload)"));
});

Deno.test("A frame of a full record takes one allocation, whatever its stream is called", () => {
  for (const streamId of ["x", "5f0c7a52-6d0e-4c4e-9d53-0a4b1f2c3d4e", "é".repeat(100), "\u{1f600}".repeat(30)]) {
    const frame = encodeData(streamId, 0xffff_ffff, new Uint8Array(MAX_RECORD_BYTES + TAG_BYTES));
    assert.ok(frame.buffer.byteLength <= 16 + frame.length + 2 * 3 * streamId.length + 48);
    assert.equal(decodeFrame(frame)?.streamId, streamId);
  }
});
