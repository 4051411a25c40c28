/**
 * What a rendezvous reads of a relay frame. It is written by hand and for tests only, so that it judges the frames of
 * the product without sharing a line with it, and it copies nothing.
 */

/** Field numbers of the bodies of a `RelayMessageFrame`. */
const BODIES = {
  5: "data",
  6: "ack",
  7: "resume",
  8: "reset",
  9: "heartbeat",
  10: "handshake",
} as const;

export type FrameKind = typeof BODIES[keyof typeof BODIES];

export interface FrameView {
  readonly streamId: string;
  readonly kind: FrameKind;
  /** Of data: its number; 0 of other kinds. */
  readonly seq: number;
  /** Of data and handshake, in place; empty of other kinds. */
  readonly payload: Uint8Array<ArrayBuffer>;
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
const NOTHING = new Uint8Array(0);
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Null: nothing that a rendezvous could route. */
export function viewFrame(bytes: Uint8Array<ArrayBuffer>): FrameView | null {
  let [streamId, kind, body]: [string, FrameKind | null, Uint8Array<ArrayBuffer>] = ["", null, NOTHING];
  const whole = eachField(bytes, (field, _value, content) => {
    if (field === 2 && content !== null) streamId = decoder.decode(content);
    else if (Object.hasOwn(BODIES, field) && content !== null) {
      [kind, body] = [BODIES[field as keyof typeof BODIES], content];
    }
  });
  if (!whole || kind === null || streamId === "") return null;
  let [seq, payload]: [number, Uint8Array<ArrayBuffer>] = [0, NOTHING];
  if (kind === "data" || kind === "handshake") {
    const payloadField = kind === "data" ? 4 : 1;
    eachField(body, (field, value, content) => {
      if (content === null && field === 1) seq = value;
      else if (content !== null && field === payloadField) payload = content;
    });
  }
  return { streamId, kind, seq, payload };
}

/** The same frame with another stream id. */
export function withStreamId(bytes: Uint8Array<ArrayBuffer>, streamId: string): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  eachField(bytes, (field, _value, _content, start, end) => {
    parts.push(field === 2 ? stringField(2, streamId) : bytes.subarray(start, end));
  });
  return joined(parts);
}

/** The reset that a rendezvous sends for a stream whose other end has gone. */
export function resetFrame(streamId: string): Uint8Array<ArrayBuffer> {
  const reason = stringField(1, "noise_relay_protocol_error");
  return joined([Uint8Array.of(8, 1), stringField(2, streamId), bytesField(8, reason)]);
}

/** A frame with a body of this kind, for what no program would send. */
export function frameWith(streamId: string, kind: FrameKind, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const field = Number(Object.entries(BODIES).find(([, name]) => name === kind)![0]);
  return joined([Uint8Array.of(8, 1), stringField(2, streamId), bytesField(field, body)]);
}

/** A data frame. */
export function dataFrame(streamId: string, seq: number, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const number = seq === 0 ? NOTHING : joined([Uint8Array.of(8), varint(seq)]);
  return frameWith(streamId, "data", joined([number, Uint8Array.of(0x18, 1), bytesField(4, payload)]));
}

/** A handshake frame. */
export function handshakeFrame(streamId: string, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  return frameWith(streamId, "handshake", bytesField(1, payload));
}

type OnField = (
  field: number,
  value: number,
  content: Uint8Array<ArrayBuffer> | null,
  start: number,
  end: number,
) => void;

/** Walks over the fields of one message; false: it ends in the middle of one, or has one that proto3 does not know. */
function eachField(bytes: Uint8Array<ArrayBuffer>, onField: OnField): boolean {
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (at >= bytes.length) return NaN;
      const byte = bytes[at++]!;
      if (shift < 35) value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    return NaN;
  };
  while (at < bytes.length) {
    const start = at;
    const key = number();
    const wire = key % 8;
    let [value, content]: [number, Uint8Array<ArrayBuffer> | null] = [0, null];
    if (wire === VARINT) value = number();
    else if (wire === FIXED64) at += 8;
    else if (wire === FIXED32) at += 4;
    else if (wire === BYTES) {
      const length = number();
      content = bytes.subarray(at, at + length);
      at += length;
    } else return false;
    if (Number.isNaN(value) || !(at <= bytes.length)) return false;
    onField(Math.floor(key / 8), value, content, start, at);
  }
  return true;
}

function varint(value: number): Uint8Array {
  const bytes = [];
  for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push(value % 0x80 + 0x80);
  return Uint8Array.of(...bytes, value);
}

function bytesField(field: number, content: Uint8Array): Uint8Array<ArrayBuffer> {
  return joined([varint(field * 8 + BYTES), varint(content.length), content]);
}

function stringField(field: number, text: string): Uint8Array<ArrayBuffer> {
  return bytesField(field, encoder.encode(text));
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
