import assert from "node:assert/strict";
import { connectRelay } from "../../lib/client/connect.ts";
import { pause } from "../program/eventually.ts";
import { residentBytes } from "../program/proc.ts";
import { steadyDescriptors } from "../program/steady_descriptors.ts";
import { OUR_PROGRAM, startRemote } from "../relay/support/remote_program.ts";
import { TestWorld } from "../relay/support/world.ts";

const MB = 1_000_000;
const ROUNDS = 60;
const CLIENTS_PER_ROUND = 20;
/** Not more: the pauses before an executor comes back double. */
const LOST_SOCKETS = 4;
/** Sessions whose connections have ended live for 80 s. */
const EXPIRY_MS = 85_000;
/** Measured three times in a row: 152, 163, 164 MB. */
const MAX_GROWTH_MB = 30;

Deno.test({
  name:
    "an executor holds no more after another thousand streams, and sockets that were lost, once sessions have expired",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using resources = new AsyncDisposableStack();
    const world = resources.use(TestWorld.start({ recording: false }));
    const environmentId = "soak";
    const program = await startRemote(resources, { words: OUR_PROGRAM, registryUrl: world.registryUrl, environmentId });
    await world.rendezvous.connected("executor");
    const relay = { registry: world.registryUrl, environmentId, token: "soak" };
    const round = () => {
      return Promise.all(Array.from({ length: CLIENTS_PER_ROUND }, async () => {
        await using client = await connectRelay(relay);
        assert.equal((await client.run({ argv: ["echo", "x"] })).code, 0);
      }));
    };
    const rest = async () => {
      await pause(EXPIRY_MS);
      return { held: await steadyDescriptors(program.pid), memory: residentBytes(program.pid) };
    };
    for (let count = 0; count < ROUNDS; count++) await round();
    const before = await rest();
    for (let count = 0; count < ROUNDS; count++) {
      await round();
      if (count % (ROUNDS / LOST_SOCKETS) !== 0) continue;
      const sockets = world.rendezvous.peers.filter(({ role }) => role === "executor").length;
      world.rendezvous.cut("executor");
      await world.rendezvous.connected("executor", sockets + 1);
    }
    const after = await rest();
    assert.deepEqual(after.held, before.held);
    const grown = (after.memory - before.memory) / MB;
    console.error(`${(before.memory / MB).toFixed(0)} MB before, ${grown.toFixed(1)} MB more after`);
    assert.ok(grown < MAX_GROWTH_MB, `${grown} MB more`);
  },
});
