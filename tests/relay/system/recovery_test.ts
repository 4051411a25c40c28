import assert from "node:assert/strict";
import type { ExecClient } from "../../../lib/client/client.ts";
import { eventually, inTime } from "../../program/eventually.ts";
import { announcedSeed, Random } from "../../program/random.ts";
import { allOf } from "../support/all_of.ts";
import { resetFrame } from "../support/frame_view.ts";
import type { Peer, Relayed } from "../support/rendezvous.ts";
import { relayTest, Rig } from "../support/rig.ts";

const LINES = 60;
const SLOWLY = ["sh", "-c", `n=0; while [ $n -lt ${LINES} ]; do n=$((n + 1)); echo "line $n"; sleep 0.01; done`];
const ALL = Array.from({ length: LINES }, (_, index) => `line ${index + 1}\n`).join("");

/** Starts a program that says numbered lines, and compares all of them. */
async function counts(client: ExecClient): Promise<void> {
  await using process = await client.start({ argv: SLOWLY });
  assert.equal(await inTime("the output", new Response(process.stdout).text()), ALL);
  assert.equal((await process.exited).code, 0);
}

/** Calls `act` at the `count`th record of an executor. */
function atRecord(rig: Rig, count: number, act: (frame: Relayed) => void): void {
  let seen = 0;
  rig.world.rendezvous.intercept = (frame) => {
    if (frame.direction === "toHarness" && frame.view?.kind === "data" && ++seen === count) act(frame);
  };
}

const LOSSES: readonly (readonly [what: string, lose: (rig: Rig, frame: Relayed, client: ExecClient) => void])[] = [
  ["the harness's socket is cut", ({ world }) => world.rendezvous.cut("harness")],
  ["the executor's socket is cut", ({ world }) => world.rendezvous.cut("executor")],
  ["both sockets are cut", ({ world }) => world.rendezvous.cut()],
  ["the rendezvous closes the harness's socket politely", ({ world }) => {
    for (const { socket } of world.rendezvous.open("harness")) socket.close(1001);
  }],
  ["the executor alone is told of a reset, which it tells the harness when that speaks", ({ world }, frame, client) => {
    world.rendezvous.inject(frame.peer.registrationId, resetFrame(frame.view!.streamId));
    client.call("environment/status", null).catch(() => {}); // lost with the stream
  }],
  ["the harness is told of a reset", ({ world }, { view }) => {
    for (const { socket } of world.rendezvous.open("harness")) socket.send(resetFrame(view!.streamId));
  }],
];

relayTest("every line comes once, in order, whatever is lost", async () => {
  await allOf(LOSSES.map(async ([what, lose]) => {
    try {
      await using rig = await Rig.start();
      await using client = await rig.connect();
      atRecord(rig, 8, (frame) => lose(rig, frame, client));
      await counts(client);
      assert.equal(client.failure, undefined);
      const connects = rig.world.registry.requestsOf("connect").map(({ text }) => text);
      assert.ok(connects.length >= 2, "there was a loss");
      assert.equal(new Set(connects).size, 1, "the harness keeps its key");
      assert.equal(rig.world.registry.requestsOf("register").length, 1, "the executor keeps its registration");
    } catch (error) {
      throw new Error(`${what}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }));
});

relayTest("every line comes once, in order, over several losses at any record", async () => {
  const random = new Random(announcedSeed("relay losses"));
  await using rig = await Rig.start();
  await using client = await rig.connect();
  let next = 1 + random.below(25);
  const counting = [await client.start({ argv: SLOWLY }), await client.start({ argv: SLOWLY })];
  let [seen, losses] = [0, 0];
  rig.world.rendezvous.intercept = ({ view }) => {
    if (view?.kind !== "data" || ++seen < next || losses === 4) return;
    losses++;
    next = seen + 1 + random.below(25);
    rig.world.rendezvous.cut("harness");
  };
  for (const process of counting) assert.equal(await inTime("the output", new Response(process.stdout).text()), ALL);
  assert.ok(losses > 0);
});

relayTest("a session goes on behind a new registration, which another key could not have made", async () => {
  await using rig = await Rig.start();
  const { registry, rendezvous } = rig.world;
  await using client = await rig.connect();
  await using process = await client.start({ argv: ["cat"], stdin: true });
  rendezvous.refuse("executor", { status: 410 });
  rendezvous.cut();
  const second: Peer = await rig.executor(2);
  await process.write("still the same\n");
  await process.closeStdin();
  assert.equal(await new Response(process.stdout).text(), "still the same\n");
  const [first, again] = registry.requestsOf("register");
  assert.equal(again!.text, first!.text, "the same key is registered");
  assert.equal(second.registrationId, "registration-2");
});

relayTest("a client ends when another executor is at the environment", async () => {
  await using other = await Rig.start();
  await using rig = await Rig.start();
  await using client = await rig.connect();
  const { json } = other.world.registry.requestsOf("register")[0]!;
  rig.world.registry.always("connect", { but: { executor_public_key: json.executor_public_key } });
  rig.world.rendezvous.cut("harness");
  await eventually("the client has ended", () => assert.equal(client.state, "failed"));
  assert.match(client.failure!.message, /executor key changed during session recovery/);
  assert.equal(rig.world.registry.requestsOf("validate").length, 1, "nothing was said to the other one");
});

relayTest("another harness that is let in resumes a session by its id", async () => {
  await using rig = await Rig.start();
  const first = await rig.connect();
  const { sessionId } = first;
  const { id } = await first.start({ argv: SLOWLY, processId: "counter" });
  rig.world.rendezvous.cut("harness");
  rig.world.registry.always("connect", { status: 403 });
  await eventually("the client has ended", () => assert.equal(first.state, "failed"));
  await first[Symbol.asyncDispose]();
  rig.world.registry.always("connect");
  await using second = await rig.connect({ resumeSessionId: sessionId });
  const process = await second.attach(id);
  await process.closed;
  assert.equal(await new Response(process.stdout).text(), ALL);
});
