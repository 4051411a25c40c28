import assert from "node:assert/strict";
import { connectRelay } from "../../lib/client/connect.ts";
import { residentBytes } from "../program/proc.ts";
import { steadyDescriptors } from "../program/steady_descriptors.ts";
import { OUR_PROGRAM, startRemote } from "../relay/support/remote_program.ts";
import { TestWorld } from "../relay/support/world.ts";

const MB = 1_000_000;
const ROUNDS = 100;
const CLIENTS_PER_ROUND = 20;
const SOCKETS = 10;

Deno.test({
  name: "an executor holds no more after two thousand streams and ten lost sockets than after two hundred streams",
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
    for (let warm = 0; warm < ROUNDS / 10; warm++) await round();
    const [held, memory] = [await steadyDescriptors(program.pid), residentBytes(program.pid)];
    for (let count = 0; count < ROUNDS; count++) {
      await round();
      if (count % (ROUNDS / SOCKETS) !== 0) continue;
      const sockets = world.rendezvous.peers.filter(({ role }) => role === "executor").length;
      world.rendezvous.cut("executor");
      await world.rendezvous.connected("executor", sockets + 1);
    }
    assert.deepEqual(await steadyDescriptors(program.pid), held);
    const grown = (residentBytes(program.pid) - memory) / MB;
    console.error(`${(memory / MB).toFixed(0)} MB before, ${grown.toFixed(1)} MB more after`);
    assert.ok(grown < 40, `${grown} MB more`);
  },
});
