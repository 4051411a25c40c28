import assert from "node:assert/strict";
import type { Carrier, OpenedConnection } from "../../../lib/client/carrier.ts";
import { relayCarrier } from "../../../lib/client/relay_carrier.ts";
import {
  FAILURE_BUDGET,
  MAX_ACTIVE_STREAMS,
  MAX_VALIDATIONS,
  PAUSE_MS,
  VALIDATE_TIMEOUT_MS,
} from "../../../lib/relay/limits.ts";
import { eventually } from "../../program/eventually.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { handshakeFrame } from "../support/frame_view.ts";
import { relayTest, Rig } from "../support/rig.ts";

/** Fewer handshakes at once than an executor validates at once. */
const AT_ONCE = 16;

/** Streams without conversations, that end with the scope. */
class Streams implements AsyncDisposable {
  readonly #carrier: Carrier;
  readonly #use: Disposable | undefined;
  readonly #open: OpenedConnection[] = [];
  /** Of the attempts that fail. */
  readonly #given = new AbortController();

  constructor(rig: Rig) {
    this.#carrier = relayCarrier(rig.relay);
    this.#use = this.#carrier.use?.();
  }

  async open(): Promise<void> {
    const opened = await this.#carrier.open({ signal: this.#given.signal });
    opened.connection.start({ message: () => {}, ended: () => {} });
    this.#open.push(opened);
  }

  /** @param count So many in all. */
  async openUpTo(count: number): Promise<void> {
    let left = count - this.#open.length;
    const work = async () => {
      while (left-- > 0) await this.open();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  async closeOne(): Promise<void> {
    const { connection, gone } = this.#open.pop()!;
    connection.close();
    await gone;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#given.abort(new Error("the test is over"));
    while (this.#open.length > 0) await this.closeOne();
    this.#use?.[Symbol.dispose]();
  }
}

relayTest("the hundred and twenty-ninth stream is refused unread, until another has gone", async () => {
  await using rig = await Rig.start();
  const { registry, rendezvous } = rig.world;
  await using streams = new Streams(rig);
  await streams.openUpTo(MAX_ACTIVE_STREAMS);
  await assert.rejects(streams.open());
  assert.equal(registry.requestsOf("validate").length, MAX_ACTIVE_STREAMS);
  await streams.closeOne();
  await rendezvous.until("the end of a stream", () => rendezvous.streams.length === MAX_ACTIVE_STREAMS - 1);
  await streams.open();
  assert.equal(registry.requestsOf("validate").length, MAX_ACTIVE_STREAMS + 1);
});

relayTest("the thirty-third validation at once is refused, and its place is free when one has ended", async () => {
  const clock = new ManualClock();
  await using rig = await Rig.start({ clock });
  const { registry, rendezvous } = rig.world;
  registry.always("validate", { hang: true });
  await using streams = new Streams(rig);
  const waiting = Array.from({ length: MAX_VALIDATIONS }, () => streams.open().catch(() => {}));
  await registry.asked("validate", MAX_VALIDATIONS);
  registry.always("validate");
  await assert.rejects(streams.open());
  assert.equal(registry.requestsOf("validate").length, MAX_VALIDATIONS, "the refused one is not asked for");
  // Those that waited go; their requests hold their places until they have ended.
  rendezvous.cut("harness");
  await Promise.all(waiting);
  await assert.rejects(streams.open());
  clock.advance(VALIDATE_TIMEOUT_MS);
  await eventually("the requests have ended", () => assert.equal(clock.pendingTimers, 1)); // the next ping's
  await streams.open();
});

relayTest("after eight failures no handshake is read for ten seconds; streams that are open go on", async () => {
  const clock = new ManualClock();
  await using rig = await Rig.start({ clock });
  const { registry, rendezvous } = rig.world;
  await using client = await rig.connect();
  const { registrationId } = await rig.executor();
  for (let failure = 1; failure <= FAILURE_BUDGET; failure++) {
    rendezvous.inject(registrationId, handshakeFrame(`garbage-${failure}`, new Uint8Array(3600)));
    await rendezvous.until("its reset", () => rendezvous.framesOf("toHarness", `garbage-${failure}`).length === 1);
  }
  await eventually("it has paused", () => assert.match(rig.log.join(""), /too many failed handshakes/));
  await assert.rejects(rig.connect());
  clock.advance(PAUSE_MS - 1);
  await assert.rejects(rig.connect());
  assert.equal(registry.requestsOf("validate").length, 1, "only the first one's handshake was read");
  assert.equal((await client.run({ argv: ["echo", "on"] })).stdoutText, "on\n");
  clock.advance(1);
  await (await rig.connect())[Symbol.asyncDispose]();
});

relayTest("a harness that takes nothing holds up its own output, and nobody else's", async () => {
  await using rig = await Rig.start({ backlogBytes: Infinity });
  const { rendezvous } = rig.world;
  await using slow = await rig.connect();
  await using quick = await rig.connect();
  const { socket } = rendezvous.open("harness")[0]!;
  socket.bytesPerSecond = 40_000;
  await using flood = await slow.start({ argv: ["sh", "-c", "seq 1 40000; sleep 60"] });
  await rendezvous.until("a backlog", () => rendezvous.open("harness")[0]!.socket.backlogBytes > 100_000);
  for (let round = 0; round < 5; round++) {
    assert.equal((await quick.run({ argv: ["echo", String(round)] })).stdoutText, `${round}\n`);
  }
  assert.ok(rendezvous.open("harness")[0]!.socket.backlogBytes > 0, "the slow one is still behind");
  socket.bytesPerSecond = Infinity;
  const reader = flood.stdout.getReader();
  for (let text = ""; !text.endsWith("40000\n");) {
    text = (text + new TextDecoder().decode((await reader.read()).value)).slice(-20);
  }
  reader.releaseLock();
  await flood.terminate();
  await flood.closed;
});

relayTest("a rendezvous that stops to read for a while gets every byte in order afterwards", async () => {
  await using rig = await Rig.start();
  const { rendezvous } = rig.world;
  await using client = await rig.connect();
  const { socket } = await rig.executor();
  socket.stopReading();
  const output = client.run({ argv: ["seq", "1", "1500000"] }).catch((error: unknown) => error);
  // The system's buffers take some megabytes; what is more waits in the program.
  await new Promise((resolve) => setTimeout(resolve, 300));
  socket.readAgain();
  const { stdout, code } = await output as { stdout: Uint8Array; code: number };
  assert.deepEqual([stdout.length, code], [10_888_896, 0]);
  assert.equal(rendezvous.peers.length, 2, "nothing was lost meanwhile");
});

relayTest("output survives a rendezvous that closes both sides when one is too far behind", async () => {
  await using rig = await Rig.start({ backlogBytes: 700_000, atBacklog: "close" });
  const { rendezvous } = rig.world;
  await using client = await rig.connect();
  rendezvous.open("harness")[0]!.socket.bytesPerSecond = 200_000;
  await using process = await client.start({ argv: ["sh", "-c", "seq 1 150000"] });
  const text = await new Response(process.stdout).text();
  assert.equal(text, Array.from({ length: 150_000 }, (_, index) => `${index + 1}\n`).join(""));
  assert.ok(rendezvous.peers.filter(({ role }) => role === "executor").length > 1, "both sides were closed");
});
