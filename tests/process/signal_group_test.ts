import assert from "node:assert/strict";
import { signalGroup } from "../../lib/process/signal_group.ts";
import { Bench, processes } from "../support/linux.ts";

Deno.test("no signal goes to everybody, to init's group, to no number or to our own group", () => {
  for (const group of [-5, -1, 0, 1, 1.5, NaN, Infinity]) {
    assert.throws(() => signalGroup(group, "SIGKILL"), new RangeError(`refusing to signal process group ${group}`));
  }
  const own = Number(processes().get(Deno.pid)![2]);
  assert.throws(() => signalGroup(own, "SIGKILL"), /refusing to signal process group \d+: it is our own/);
});

Deno.test("a signal to a group that is gone is sent to nobody", async () => {
  await using bench = new Bench();
  const { child, record } = bench.launch(["/bin/sh", "-c", "exec sleep 60"]);
  assert.equal(signalGroup(child.pid, "SIGINT"), true);
  assert.deepEqual(await record.end(), ["exited 130", "closed"]);
  assert.equal(signalGroup(child.pid, "SIGKILL"), false);
});
