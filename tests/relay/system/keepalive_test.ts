import assert from "node:assert/strict";
import { PING_INTERVAL_MS, PONG_TIMEOUT_MS } from "../../../lib/relay/limits.ts";
import { eventually } from "../../program/eventually.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { relayTest, Rig } from "../support/rig.ts";

relayTest(
  "an executor leaves a rendezvous that is half open after a minute without a pong, and comes back",
  async () => {
    const clock = new ManualClock();
    await using rig = await Rig.start({ clock });
    await using client = await rig.connect();
    await using process = await client.start({ argv: ["cat"], stdin: true });
    const { socket } = await rig.executor();
    clock.advance(PING_INTERVAL_MS);
    await eventually("a ping came and was answered", () => assert.equal(socket.pings, 1));
    // The pong takes a moment, and only it lets the next ping be sent.
    for (let pings = 2; pings <= 3; pings++) {
      await eventually("another ping came", () => {
        if (socket.pings < pings) clock.advance(PING_INTERVAL_MS / 3);
        assert.equal(socket.pings, pings);
      });
    }
    socket.silent = true;
    clock.advance(PING_INTERVAL_MS);
    clock.advance(PONG_TIMEOUT_MS);
    await eventually("it reconnects", () => {
      clock.advance(500); // little, for dialling has a limit by this clock as well
      assert.equal(rig.world.rendezvous.open("executor").length, 1);
    });
    assert.match(rig.log.join(""), /pong_timeout/);
    await process.write("back\n");
    await process.closeStdin();
    assert.equal(await new Response(process.stdout).text(), "back\n");
  },
);

relayTest("a client leaves a rendezvous that is half open after a minute without a pong, and recovers", async () => {
  const clock = new ManualClock();
  await using rig = await Rig.start();
  await using client = await rig.connect({ clock });
  const { socket } = rig.world.rendezvous.open("harness")[0]!;
  socket.silent = true;
  clock.advance(PING_INTERVAL_MS);
  clock.advance(PONG_TIMEOUT_MS);
  await eventually("it is connected anew", () => {
    clock.advance(100);
    assert.equal(rig.world.rendezvous.upgrades.filter(({ role }) => role === "harness").length, 2);
    assert.equal(client.state, "connected");
  });
  assert.deepEqual(await client.call("environment/status", null), { status: "ready" });
});
