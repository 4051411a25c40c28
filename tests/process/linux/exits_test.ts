import assert from "node:assert/strict";
import { createLog, silentLog } from "../../../lib/log.ts";
import { cString, cStringArray } from "../../../lib/linux/cstring.ts";
import * as libc from "../../../lib/linux/libc.ts";
import { Exits } from "../../../lib/process/linux/exits.ts";
import { Poller } from "../../../lib/linux/poller.ts";
import { posixSpawn } from "../../../lib/linux/posix_spawn.ts";
import { eventually, processes } from "../../support/linux.ts";

function start(script: string): number {
  const pid = posixSpawn({
    path: cString("/bin/sh"),
    argv: cStringArray(["sh", "-c", script]),
    env: cStringArray([]),
    directory: cString("/"),
    descriptors: [],
  });
  assert.ok(pid > 0);
  return pid;
}

for (const by of ["descriptor", "SIGCHLD"] as const) {
  Deno.test(`Exits takes the status of each child once, told by ${by}`, async () => {
    using poller = new Poller(silentLog);
    const exits = new Exits(poller, silentLog);
    const alive = setInterval(() => {}, 1000); // the runtime does not count a listener for signals as work to be done
    const expected = new Map<number, number>();
    const statuses = new Map<number, number>();
    const descriptors: number[] = [];
    for (const code of [0, 3, 200]) {
      const pid = start(`exit ${code}`);
      const pidfd = by === "descriptor" ? libc.openProcessDescriptor(pid) : -1;
      if (pidfd >= 0) descriptors.push(pidfd);
      expected.set(pid, code << 8);
      assert.equal(exits.has(pid), false);
      exits.await(pid, pidfd, (status) => {
        assert.equal(statuses.has(pid), false);
        statuses.set(pid, status);
      });
      assert.equal(exits.has(pid), true);
      assert.equal(statuses.size, 0); // never from within await()
    }
    await exits.idle();
    await poller.idle();
    assert.deepEqual(statuses, expected);
    for (const pid of expected.keys()) assert.equal(processes().has(pid), false);
    for (const fd of descriptors) libc.close(fd);
    clearInterval(alive);
  });
}

Deno.test("Exits reports a child whose status somebody else took as killed, and says so in the log", async () => {
  const lines: string[] = [];
  using poller = new Poller(silentLog);
  const exits = new Exits(poller, createLog("error", (line) => lines.push(line)));
  const pid = start("exit 0");
  const pidfd = libc.openProcessDescriptor(pid);
  await eventually("it is a zombie", () => processes().get(pid)?.[0] === "Z");
  assert.deepEqual(libc.reap(pid), { status: 0 });
  const statuses: number[] = [];
  exits.await(pid, pidfd, (status) => statuses.push(status));
  await exits.idle();
  await poller.idle();
  libc.close(pidfd);
  assert.deepEqual(statuses, [9]);
  assert.match(lines.join(""), new RegExp(`taken by somebody else pid=${pid} errno=10`));
});
