// Made from proto/codex.exec_server.relay.v1.proto by scripts/relay_codec.ts. Do not edit.
import protobuf from "protobufjs/minimal.js";

type Reader = protobuf.Reader;
type Writer = protobuf.Writer;

const NO_BYTES: Uint8Array = new Uint8Array(0);

export interface RelayMessageFrame {
  version: number;
  streamId: string;
  ack: number;
  ackBits: number;
  traceparent?: string;
  tracestate?: string;
  body?:
    | { kind: "data"; value: RelayData }
    | { kind: "ackFrame"; value: RelayAck }
    | { kind: "resume"; value: RelayResume }
    | { kind: "reset"; value: RelayReset }
    | { kind: "heartbeat"; value: RelayHeartbeat }
    | { kind: "handshake"; value: RelayHandshake };
}

function readRelayMessageFrame(
  reader: Reader,
  message: RelayMessageFrame = { version: 0, streamId: "", ack: 0, ackBits: 0 },
): RelayMessageFrame {
  while (reader.pos < reader.len) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.version = reader.uint32();
        break;
      case 18:
        message.streamId = reader.stringVerify();
        break;
      case 24:
        message.ack = reader.uint32();
        break;
      case 32:
        message.ackBits = reader.uint32();
        break;
      case 42:
        message.body = {
          kind: "data",
          value: within(reader, readRelayData, message.body?.kind === "data" ? message.body.value : undefined),
        };
        break;
      case 50:
        message.body = {
          kind: "ackFrame",
          value: within(reader, readRelayAck, message.body?.kind === "ackFrame" ? message.body.value : undefined),
        };
        break;
      case 58:
        message.body = {
          kind: "resume",
          value: within(reader, readRelayResume, message.body?.kind === "resume" ? message.body.value : undefined),
        };
        break;
      case 66:
        message.body = {
          kind: "reset",
          value: within(reader, readRelayReset, message.body?.kind === "reset" ? message.body.value : undefined),
        };
        break;
      case 74:
        message.body = {
          kind: "heartbeat",
          value: within(
            reader,
            readRelayHeartbeat,
            message.body?.kind === "heartbeat" ? message.body.value : undefined,
          ),
        };
        break;
      case 82:
        message.body = {
          kind: "handshake",
          value: within(
            reader,
            readRelayHandshake,
            message.body?.kind === "handshake" ? message.body.value : undefined,
          ),
        };
        break;
      case 90:
        message.traceparent = reader.stringVerify();
        break;
      case 98:
        message.tracestate = reader.stringVerify();
        break;
      default:
        skipUnknown(reader, tag, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 1);
    }
  }
  return message;
}

function writeRelayMessageFrame(writer: Writer, message: RelayMessageFrame): void {
  if (message.version !== 0) writer.uint32(8).uint32(message.version);
  if (message.streamId !== "") writer.uint32(18).string(message.streamId);
  if (message.ack !== 0) writer.uint32(24).uint32(message.ack);
  if (message.ackBits !== 0) writer.uint32(32).uint32(message.ackBits);
  switch (message.body?.kind) {
    case "data":
      writer.uint32(42).fork();
      writeRelayData(writer, message.body.value);
      writer.ldelim();
      break;
    case "ackFrame":
      writer.uint32(50).fork();
      writeRelayAck(writer, message.body.value);
      writer.ldelim();
      break;
    case "resume":
      writer.uint32(58).fork();
      writeRelayResume(writer, message.body.value);
      writer.ldelim();
      break;
    case "reset":
      writer.uint32(66).fork();
      writeRelayReset(writer, message.body.value);
      writer.ldelim();
      break;
    case "heartbeat":
      writer.uint32(74).fork();
      writeRelayHeartbeat(writer, message.body.value);
      writer.ldelim();
      break;
    case "handshake":
      writer.uint32(82).fork();
      writeRelayHandshake(writer, message.body.value);
      writer.ldelim();
      break;
  }
  if (message.traceparent !== undefined) writer.uint32(90).string(message.traceparent);
  if (message.tracestate !== undefined) writer.uint32(98).string(message.tracestate);
}

export interface RelayData {
  seq: number;
  segmentIndex: number;
  segmentCount: number;
  payload: Uint8Array;
}

function readRelayData(
  reader: Reader,
  message: RelayData = { seq: 0, segmentIndex: 0, segmentCount: 0, payload: NO_BYTES },
): RelayData {
  while (reader.pos < reader.len) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.seq = reader.uint32();
        break;
      case 16:
        message.segmentIndex = reader.uint32();
        break;
      case 24:
        message.segmentCount = reader.uint32();
        break;
      case 34:
        message.payload = reader.bytes();
        break;
      default:
        skipUnknown(reader, tag, [1, 2, 3, 4], 2);
    }
  }
  return message;
}

function writeRelayData(writer: Writer, message: RelayData): void {
  if (message.seq !== 0) writer.uint32(8).uint32(message.seq);
  if (message.segmentIndex !== 0) writer.uint32(16).uint32(message.segmentIndex);
  if (message.segmentCount !== 0) writer.uint32(24).uint32(message.segmentCount);
  if (message.payload.length !== 0) writer.uint32(34).bytes(message.payload);
}

export type RelayAck = Record<never, never>;

function readRelayAck(reader: Reader, message: RelayAck = {}): RelayAck {
  while (reader.pos < reader.len) {
    skipUnknown(reader, reader.tag(), [], 2);
  }
  return message;
}

function writeRelayAck(_writer: Writer, _message: RelayAck): void {}

export interface RelayResume {
  nextSeq: number;
}

function readRelayResume(reader: Reader, message: RelayResume = { nextSeq: 0 }): RelayResume {
  while (reader.pos < reader.len) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.nextSeq = reader.uint32();
        break;
      default:
        skipUnknown(reader, tag, [1], 2);
    }
  }
  return message;
}

function writeRelayResume(writer: Writer, message: RelayResume): void {
  if (message.nextSeq !== 0) writer.uint32(8).uint32(message.nextSeq);
}

export interface RelayReset {
  reason: string;
}

function readRelayReset(reader: Reader, message: RelayReset = { reason: "" }): RelayReset {
  while (reader.pos < reader.len) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.reason = reader.stringVerify();
        break;
      default:
        skipUnknown(reader, tag, [1], 2);
    }
  }
  return message;
}

function writeRelayReset(writer: Writer, message: RelayReset): void {
  if (message.reason !== "") writer.uint32(10).string(message.reason);
}

export type RelayHeartbeat = Record<never, never>;

function readRelayHeartbeat(reader: Reader, message: RelayHeartbeat = {}): RelayHeartbeat {
  while (reader.pos < reader.len) {
    skipUnknown(reader, reader.tag(), [], 2);
  }
  return message;
}

function writeRelayHeartbeat(_writer: Writer, _message: RelayHeartbeat): void {}

export interface RelayHandshake {
  payload: Uint8Array;
}

function readRelayHandshake(reader: Reader, message: RelayHandshake = { payload: NO_BYTES }): RelayHandshake {
  while (reader.pos < reader.len) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.payload = reader.bytes();
        break;
      default:
        skipUnknown(reader, tag, [1], 2);
    }
  }
  return message;
}

function writeRelayHandshake(writer: Writer, message: RelayHandshake): void {
  if (message.payload.length !== 0) writer.uint32(10).bytes(message.payload);
}

/**
 * Reads all that is left. The bytes in what it returns are views.
 *
 * @throws {Error} It is no RelayMessageFrame.
 */
export function decodeRelayMessageFrame(reader: Reader): RelayMessageFrame {
  return readRelayMessageFrame(reader);
}

/** @param space Where it goes; if it needs more, memory is allocated, with a copy each time. */
export function encodeRelayMessageFrame(message: RelayMessageFrame, space: Uint8Array): Uint8Array {
  const writer = new protobuf.Writer();
  writer.buf = space;
  writeRelayMessageFrame(writer, message);
  return writer.finish(true);
}

/** Reads a message within a message. */
function within<T>(reader: Reader, read: (reader: Reader, message?: T) => T, message?: T): T {
  const length = reader.size();
  const outer = reader.len;
  if (reader.pos + length > outer) throw new RangeError("a message is longer than what it is in");
  reader.len = reader.pos + length;
  const value = read(reader, message);
  reader.len = outer;
  return value;
}

/**
 * @param known The numbers of the fields that the message has; such a one has another wire type here.
 * @param depth How deep the field stands; groups go no deeper than protobufjs's limit.
 */
function skipUnknown(reader: Reader, tag: number, known: readonly number[], depth: number): void {
  if (known.includes(tag >>> 3)) throw new Error("a field has the wrong wire type");
  reader.skipType(tag & 7, depth, tag >>> 3);
}
