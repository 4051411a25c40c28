import assert from "node:assert/strict";
import { eventually } from "../program/eventually.ts";
import { descriptors, marked, zombies } from "../program/proc.ts";
import { steadyDescriptors } from "../program/steady_descriptors.ts";
import { ProcessWatch } from "../program/process_watch.ts";
import { announcedSeed, Random } from "../program/random.ts";
import { RunningServer } from "../program/running_server.ts";
import { RandomSession } from "./random_session.ts";

const SESSIONS = 4;
const STEPS = 1_500;
/** A session that nobody resumes lives for 80 s; programs that it leaves are gone after it. */
const EXPIRY_PATIENCE_MS = 100_000;

Deno.test({
  name: "sessions that do anything at random see what they must, and leave nothing once they have expired",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const seed = announcedSeed("random sessions");
    const mark = `soak-${crypto.randomUUID()}`;
    await using server = await RunningServer.start();
    await warmUp(server); // what the server keeps for good is there from then on
    const before = await steadyDescriptors(server.pid);

    const runs = Array.from({ length: SESSIONS }, async (_, index) => {
      const random = new Random(seed + 1 + index);
      await runSession(server, random, mark, STEPS);
      await abandonSession(server, random, mark);
    });
    const failed = (await Promise.allSettled(runs)).find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;

    await eventually("nothing is left of the sessions", () => {
      assert.deepEqual(marked(mark), []);
      assert.deepEqual(descriptors(server.pid), before);
      assert.deepEqual(zombies(server.pid), []);
    }, EXPIRY_PATIENCE_MS);
  },
});

async function warmUp(server: RunningServer): Promise<void> {
  await using client = await server.connect();
  await client.initialize();
  const watch = new ProcessWatch(client);
  for (const tty of [false, true]) await (await watch.start(`warm-up ${tty}`, { argv: ["true"], tty })).closed.promise;
}

async function runSession(server: RunningServer, random: Random, mark: string, steps: number): Promise<void> {
  await using session = await RandomSession.open(server, random, mark);
  for (let step = 0; step < steps; step++) await session.step();
  await session.finish();
}

/** Leaves programs running in a session that nobody comes back to. */
async function abandonSession(server: RunningServer, random: Random, mark: string): Promise<void> {
  await using session = await RandomSession.open(server, random, mark);
  for (let step = 0; step < 20; step++) await session.step();
}
