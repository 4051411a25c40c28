import assert from "node:assert/strict";
import { type DataFrame, decodeFrame } from "../../../lib/relay/stream/frame.ts";
import { type DirectionKeys, type Role, StreamEnd, streamTest } from "../support/stream_end.ts";
import { fromHex, loadVectors, toHex } from "../vectors/load.ts";

interface Session {
  readonly stream_id: string;
  readonly split: { readonly initiator_to_responder_key_hex: string; readonly responder_to_initiator_key_hex: string };
  readonly frames: readonly {
    readonly from: Role;
    readonly hex: string;
    /** Large ones by their length and SHA-256. */
    readonly messages?: readonly (object | { readonly length: number; readonly sha256_hex: string })[];
  }[];
}

for (const name of ["real-executor-session", "real-executor-segmented", "real-harness-session"] as const) {
  const session = loadVectors<Session>(`${name}.json`);
  for (const from of ["harness", "executor"] as const) {
    streamTest(`RelayStream reads what the ${from} of ${name} said, and would have sent the same frames`, async () => {
      const frames = session.frames.filter((frame) => frame.from === from)
        .map(({ hex }) => decodeFrame(fromHex(hex)))
        .filter((frame): frame is DataFrame => frame?.kind === "data");
      const reader = open(session, from === "harness" ? "executor" : "harness").start();
      for (const frame of frames) reader.stream.receive(frame);
      reader.stream.peerReset();
      await reader.ended;
      await assertRecorded(reader.texts, session, from);

      const writer = open(session, from).start();
      for (const text of reader.texts) writer.stream.send(text);
      await writer.socket.whenSent(frames.length);
      assert.deepEqual(writer.socket.sent.map(toHex), dataFramesOf(session, from));
      writer.stream.peerReset();
    });
  }
}

function open(session: Session, role: Role): StreamEnd {
  const secrets: DirectionKeys = {
    toExecutor: fromHex(session.split.initiator_to_responder_key_hex),
    toHarness: fromHex(session.split.responder_to_initiator_key_hex),
  };
  return new StreamEnd(role, { streamId: session.stream_id, secrets });
}

function dataFramesOf(session: Session, from: Role): string[] {
  return session.frames.filter((frame) => frame.from === from).map(({ hex }) => hex)
    .filter((hex) => decodeFrame(fromHex(hex))?.kind === "data");
}

async function assertRecorded(texts: readonly string[], session: Session, from: Role): Promise<void> {
  const recorded = session.frames.filter((frame) => frame.from === from).flatMap(({ messages }) => messages ?? []);
  assert.equal(texts.length, recorded.length);
  for (const [index, expected] of recorded.entries()) {
    const text = texts[index]!;
    if (!("sha256_hex" in expected)) {
      assert.deepEqual(JSON.parse(text), expected);
      continue;
    }
    const bytes = new TextEncoder().encode(text);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    assert.deepEqual({ length: bytes.length, sha256_hex: toHex(digest) }, expected);
  }
}
