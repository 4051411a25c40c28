import { decodeRelayMessageFrame, encodeRelayMessageFrame, type RelayMessageFrame } from "../generated/relay_frame.ts";
import { MAX_FRAME_BYTES } from "../limits.ts";
import { FRAME_ROOM_BYTES } from "../socket/relay_socket.ts";
import { StrictReader } from "./strict_reader.ts";

/**
 * One frame: what a binary WebSocket message says about one stream. Payloads are views into the message. Nothing of it
 * is authenticated: not even the stream id and the order are more than a hint.
 */
export type Frame = DataFrame | HandshakeFrame | OtherFrame;

export interface DataFrame extends FrameEnvelope {
  readonly kind: "data";
  /** Number of the record. */
  readonly seq: number;
  /** One sealed record, not empty. */
  readonly payload: Uint8Array<ArrayBuffer>;
}

export interface HandshakeFrame extends FrameEnvelope {
  readonly kind: "handshake";
  /** A message of the handshake, not empty. */
  readonly payload: Uint8Array<ArrayBuffer>;
}

/** What there is to know about the others is that they came; a reset's reason is dropped unread. */
export interface OtherFrame extends FrameEnvelope {
  readonly kind: "reset" | "resume" | "ack" | "heartbeat";
}

interface FrameEnvelope {
  readonly streamId: string;
  /** W3C trace context, for telemetry alone. */
  readonly traceparent?: string;
  readonly tracestate?: string;
}

/** A frame that breaks the rules of relay frames. */
export interface InvalidFrame {
  readonly kind: "invalid";
  /** May be empty. */
  readonly streamId: string;
}

const VERSION = 1;
/** The only reason there is, whatever the cause: a peer could not trust another one. */
const RESET_REASON = "noise_relay_protocol_error";
/** Keys, lengths and small fields of the largest frame that we send; protobufjs looks ahead for five bytes each time. */
const MOST_ELSE_BYTES = 48;
/** What the reference trims: Unicode's white space, which JavaScript's `trim` does not quite agree with. */
const BLANK = /^\p{White_Space}*$/u;

/**
 * Reads one binary message. What it allocates is bounded by the message's size, and a message above
 * {@linkcode MAX_FRAME_BYTES} is not read.
 *
 * @returns `undefined` if the message is no frame at all.
 */
export function decodeFrame(message: Uint8Array<ArrayBuffer>): Frame | InvalidFrame | undefined {
  if (message.length > MAX_FRAME_BYTES) return undefined;
  let decoded: RelayMessageFrame;
  try {
    decoded = decodeRelayMessageFrame(new StrictReader(message));
  } catch {
    // Whatever it is that the bytes lack, no frame is what they are.
    return undefined;
  }
  return checked(decoded) ?? { kind: "invalid", streamId: decoded.streamId };
}

function checked(frame: RelayMessageFrame): Frame | undefined {
  const { version, streamId, body, traceparent, tracestate } = frame;
  if (version !== VERSION || BLANK.test(streamId) || body === undefined) return undefined;
  const envelope: FrameEnvelope = {
    streamId,
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(tracestate === undefined ? {} : { tracestate }),
  };
  switch (body.kind) {
    case "data": {
      const { seq, segmentIndex, segmentCount, payload } = body.value;
      if (segmentIndex !== 0 || segmentCount !== 1 || payload.length === 0) return undefined;
      return { ...envelope, kind: "data", seq, payload: payload as Uint8Array<ArrayBuffer> };
    }
    case "handshake": {
      const { payload } = body.value;
      return payload.length === 0
        ? undefined
        : { ...envelope, kind: "handshake", payload: payload as Uint8Array<ArrayBuffer> };
    }
    case "reset":
      return body.value.reason === "" ? undefined : { ...envelope, kind: "reset" };
    case "ackFrame":
      return { ...envelope, kind: "ack" };
    case "resume":
    case "heartbeat":
      return { ...envelope, kind: body.kind };
  }
}

/** @param record One sealed record; copied. */
export function encodeData(streamId: string, seq: number, record: Uint8Array): Uint8Array<ArrayBuffer> {
  const value = { seq, segmentIndex: 0, segmentCount: 1, payload: record };
  return encode(streamId, { kind: "data", value }, record.length);
}

/** @param message Message 1 or 2 of the handshake; copied. */
export function encodeHandshake(streamId: string, message: Uint8Array): Uint8Array<ArrayBuffer> {
  return encode(streamId, { kind: "handshake", value: { payload: message } }, message.length);
}

export function encodeReset(streamId: string): Uint8Array<ArrayBuffer> {
  return encode(streamId, { kind: "reset", value: { reason: RESET_REASON } }, RESET_REASON.length);
}

/** The first frame of a harness: from it the rendezvous learns whose the stream is. */
export function encodeResume(streamId: string): Uint8Array<ArrayBuffer> {
  return encode(streamId, { kind: "resume", value: { nextSeq: 0 } }, 0);
}

/** @param bytes How many the body's longest field has. One allocation is enough then (measured for 60 KiB: 15 µs, not 46). */
function encode(
  streamId: string,
  body: NonNullable<RelayMessageFrame["body"]>,
  bytes: number,
): Uint8Array<ArrayBuffer> {
  const frame: RelayMessageFrame = { version: VERSION, streamId, ack: 0, ackBits: 0, body };
  // A unit of UTF-16 makes three bytes at most.
  const buffer = new ArrayBuffer(FRAME_ROOM_BYTES + 3 * streamId.length + bytes + MOST_ELSE_BYTES);
  return encodeRelayMessageFrame(frame, new Uint8Array(buffer, FRAME_ROOM_BYTES)) as Uint8Array<ArrayBuffer>;
}
