import assert from "node:assert/strict";
import type { ExecClient } from "../../../lib/client/client.ts";
import { eventually } from "../../program/eventually.ts";
import { dataFrame, frameWith, handshakeFrame, withStreamId } from "../support/frame_view.ts";
import type { Relayed } from "../support/rendezvous.ts";
import { relayTest, Rig } from "../support/rig.ts";

/** The first frames of this kind and direction. */
function framesOf(rig: Rig, direction: "toExecutor" | "toHarness", kind: string): Relayed[] {
  return rig.world.rendezvous.framesOf(direction).filter(({ view }) => view.kind === kind);
}

/** Resets that the executor has sent for a stream. */
function resets(rig: Rig, streamId: string): number {
  return rig.world.rendezvous.framesOf("toHarness", streamId).filter(({ view }) => view.kind === "reset").length;
}

async function works(client: ExecClient): Promise<void> {
  assert.equal((await client.run({ argv: ["echo", "well"] })).stdoutText, "well\n");
}

relayTest("a replayed handshake costs a validation and gives nobody anything", async () => {
  await using rig = await Rig.start();
  const { registry, rendezvous } = rig.world;
  await using other = await rig.connect();
  const first = await rig.connect();
  const hello = framesOf(rig, "toExecutor", "handshake")[1]!;
  const { streamId } = hello.view!;
  await first[Symbol.asyncDispose]();
  await rendezvous.until("the end of the stream", () => !rendezvous.streams.includes(streamId));
  const messages = new Set<string>();
  for (let replay = 1; replay <= 3; replay++) {
    const before = framesOf(rig, "toHarness", "handshake").length;
    rendezvous.inject(hello.peer.registrationId, hello.bytes);
    await registry.asked("validate", 2 + replay);
    const answer = await rendezvous.until("an answer", () => framesOf(rig, "toHarness", "handshake")[before]);
    messages.add(answer.view!.payload.toHex());
    // Whoever replays has no keys: what he says ends the stream.
    rendezvous.inject(hello.peer.registrationId, dataFrame(streamId, 0, new Uint8Array(80)));
    await rendezvous.until("a reset", () => resets(rig, streamId) === replay);
  }
  assert.equal(messages.size, 3, "never the same answer twice");
  await works(other);
  assert.equal(rig.log.filter((line) => line.includes("session created")).length, 2, "no session came of a replay");
});

relayTest("a replayed handshake is refused where an authorization is good for once", async () => {
  await using rig = await Rig.start({ singleUse: true });
  const { registry, rendezvous } = rig.world;
  await (await rig.connect())[Symbol.asyncDispose]();
  const [hello] = framesOf(rig, "toExecutor", "handshake");
  const { streamId } = hello!.view!;
  await rendezvous.until("the end of the stream", () => rendezvous.streams.length === 0);
  rendezvous.inject(hello!.peer.registrationId, hello!.bytes);
  await rendezvous.until("a reset", () => resets(rig, streamId) === 1);
  assert.equal(registry.requestsOf("validate").length, 2);
  await using client = await rig.connect();
  await works(client);
});

relayTest(
  "a handshake replayed on its own stream leaves it alone, and one on another stream is refused unread",
  async () => {
    await using rig = await Rig.start();
    const { registry, rendezvous } = rig.world;
    await using client = await rig.connect();
    const [hello] = framesOf(rig, "toExecutor", "handshake");
    const { registrationId } = hello!.peer;
    const executorOnly = rendezvous.resetsForTheGone;
    assert.ok(executorOnly);
    // The answer is kept from the harness, which would believe it.
    rendezvous.intercept = ({ direction, view }) => direction !== "toHarness" || view?.kind !== "reset";
    rendezvous.inject(registrationId, hello!.bytes);
    rendezvous.inject(registrationId, withStreamId(hello!.bytes, "another"));
    await rendezvous.until("both resets", () => resets(rig, hello!.view!.streamId) + resets(rig, "another") === 2);
    await works(client);
    assert.equal(registry.requestsOf("validate").length, 1);
  },
);

/** Another stream, and the number of the record that its end waits for. */
interface Next {
  readonly streamId: string;
  readonly seq: number;
}

/** What a rendezvous may do to a record on its way to the executor. */
const TWISTS: readonly (readonly [what: string, twist: (frame: Relayed, other: Next) => Uint8Array<ArrayBuffer>])[] = [
  [
    "a record of one stream under the id of another",
    ({ view }, { streamId, seq }) => dataFrame(streamId, seq, view!.payload),
  ],
  ["a record with a bit turned over", ({ bytes, view }) => {
    const turned = bytes.slice();
    turned[view!.payload.byteOffset - bytes.byteOffset + 5]! ^= 4;
    return turned;
  }],
  ["a record that is shorter than a tag", ({ view }) => {
    return dataFrame(view!.streamId, view!.seq, view!.payload.subarray(0, 15));
  }],
  ["a record under another number", ({ view }) => dataFrame(view!.streamId, view!.seq + 65, view!.payload)],
];

for (const [what, twist] of TWISTS) {
  relayTest(`${what} ends the stream that it comes on, and nothing else`, async () => {
    await using rig = await Rig.start();
    const { rendezvous } = rig.world;
    await using victim = await rig.connect();
    await using other = await rig.connect();
    await using process = await other.start({ argv: ["cat"], stdin: true });
    const [, mine] = rendezvous.streams;
    let twisted = false;
    rendezvous.intercept = (frame) => {
      const { direction, view, peer } = frame;
      if (twisted || direction !== "toExecutor" || view?.kind !== "data") return;
      const sent = rendezvous.framesOf("toExecutor", mine!).filter(({ view }) => view.kind === "data").length;
      const record = twist(frame, { streamId: mine!, seq: sent });
      twisted = true;
      rendezvous.inject(peer.registrationId, record);
      return false;
    };
    // The request is lost with its record, or with the stream.
    const lost = victim.call("environment/status", null, { timeoutMs: 300 }).catch(() => {});
    await rendezvous.until("a reset", () =>
      rendezvous.relayed.some(({ view, direction }) => {
        return direction === "toHarness" && view?.kind === "reset";
      }));
    await lost;
    for (const client of [victim, other]) {
      await eventually("it is connected", () => assert.equal(client.state, "connected"));
    }
    await process.write("still here\n");
    await process.closeStdin();
    assert.equal(await new Response(process.stdout).text(), "still here\n");
    assert.equal(rendezvous.peers.filter(({ role }) => role === "executor").length, 1, "the socket stays");
  });
}

relayTest("junk from the rendezvous is dropped, and disturbs nobody", async () => {
  await using rig = await Rig.start();
  const { rendezvous } = rig.world;
  await using client = await rig.connect();
  const { socket, registrationId } = await rig.executor();
  const [stream] = rendezvous.streams;
  const junk = [
    new Uint8Array(0),
    new Uint8Array(300).fill(255),
    frameWith("", "data", new Uint8Array(3)),
    Uint8Array.of(8, 2),
  ];
  for (const bytes of junk) rendezvous.inject(registrationId, bytes);
  for (const kind of ["resume", "ack", "heartbeat"] as const) {
    for (const id of [stream!, "nobody"]) rendezvous.inject(registrationId, frameWith(id, kind, new Uint8Array(0)));
  }
  socket.sendText("a text");
  socket.send(new Uint8Array(262_144));
  socket.ping();
  rendezvous.inject(registrationId, dataFrame("nobody", 0, new Uint8Array(20)));
  await rendezvous.until("the reset of the only frame that is answered", () => resets(rig, "nobody") === 1);
  await works(client);
  await rendezvous.until("a pong", () => socket.pongs === 1);
  assert.equal(framesOf(rig, "toHarness", "reset").length, 1);
});

relayTest("a message that is too large ends the socket, and the sessions go on over the next one", async () => {
  await using rig = await Rig.start();
  await using client = await rig.connect();
  await using process = await client.start({ argv: ["cat"], stdin: true });
  const { socket } = await rig.executor();
  socket.send(new Uint8Array(262_145));
  await rig.executor(2);
  await process.write("after it\n");
  await process.closeStdin();
  assert.equal(await new Response(process.stdout).text(), "after it\n");
});

relayTest("who has no authorization gets a reset, and learns nothing of why", async () => {
  await using rig = await Rig.start();
  const { registry, rendezvous } = rig.world;
  const answers = [{ body: { valid: false } }, { body: {} }, { body: "no json" }, { status: 500 }, {
    status: 302,
  }] as const;
  for (const answer of answers) {
    registry.next("validate", answer);
    await assert.rejects(rig.connect());
  }
  const { registrationId } = await rig.executor();
  rendezvous.inject(registrationId, handshakeFrame("garbage", new Uint8Array(3600)));
  await rendezvous.until("its reset", () => resets(rig, "garbage") === 1);
  // What follows the stream's id.
  const said = framesOf(rig, "toHarness", "reset").map(({ view, bytes }) => {
    return new TextDecoder().decode(bytes).split(view!.streamId)[1];
  });
  assert.equal(said.length, answers.length + 1);
  assert.equal(new Set(said).size, 1, "always the same words");
  assert.equal(registry.requestsOf("validate").length, answers.length, "one question each, and none for garbage");
});
