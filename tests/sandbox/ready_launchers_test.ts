import assert from "node:assert/strict";
import { cString } from "../../lib/linux/cstring.ts";
import { EINVAL } from "../../lib/linux/errno.ts";
import * as libc from "../../lib/linux/libc.ts";
import { ownChildren } from "../../lib/linux/own_children.ts";
import { type LauncherKind, READY_MS, ReadyLauncher, ReadyLaunchers } from "../../lib/sandbox/ready_launchers.ts";
import { ManualClock } from "../support/manual_clock.ts";

const ignore = Deno.build.os !== "linux";

/** Stands in for a launcher: ends when the server lets go of its socket. */
const KIND: LauncherKind = { argv: ["/bin/sh", "-c", "read x <&3"], env: [], hasFirstProcess: false };
const OTHER: LauncherKind = { ...KIND, env: ["A=1"] };
const ENDING: LauncherKind = { ...KIND, argv: ["/bin/true"] };

Deno.test({
  name: "ReadyLaunchers keep one of each kind that was used, for half a minute",
  ignore,
  fn: () => {
    const clock = new ManualClock();
    using launchers = new ReadyLaunchers(clock);
    const running = ownChildren.size;
    launchers.used(KIND);
    clock.advance(10);
    assert.equal(ownChildren.size, running, "nobody has opened them yet");
    launchers.open();
    for (let times = 0; times < 3; times++) launchers.used(KIND);
    launchers.used(OTHER);
    clock.advance(1);
    assert.equal(ownChildren.size, running + 2);
    launchers.used(KIND);
    clock.advance(1);
    assert.equal(ownChildren.size, running + 2);
    {
      using taken = launchers.take({ ...KIND });
      assert.equal(taken?.isReady, true);
      assert.equal(launchers.take(KIND), undefined);
    }
    assert.equal(ownChildren.size, running + 1);
    clock.advance(READY_MS);
    assert.equal(launchers.take(OTHER), undefined);
    assert.equal(ownChildren.size, running);
    assert.equal(clock.pendingTimers, 0);
  },
});

Deno.test({
  name: "ReadyLaunchers give nobody one that has ended, and end with their scope",
  ignore,
  fn: async () => {
    const clock = new ManualClock();
    const running = ownChildren.size;
    {
      using launchers = new ReadyLaunchers(clock);
      launchers.open();
      launchers.used(ENDING);
      clock.advance(1);
      const [pid] = [...ownChildren].slice(-1);
      // It has ended when it is a zombie.
      while (!/^State:\tZ/m.test(Deno.readTextFileSync(`/proc/${pid}/status`))) {
        await new Promise((r) => setTimeout(r, 1));
      }
      assert.equal(launchers.take(ENDING), undefined);
      assert.equal(ownChildren.size, running);
      launchers.used(KIND);
      clock.advance(1);
      launchers.used(OTHER);
    }
    assert.equal(ownChildren.size, running);
    assert.equal(clock.pendingTimers, 0);
  },
});

Deno.test({
  name: "ReadyLauncher ends when it cannot be given what it needs",
  ignore,
  fn: () => {
    const plan = libc.memoryFile(cString("plan"));
    try {
      for (const source of [0, { path: cString("/no/such"), flags: libc.O_RDONLY }]) {
        using launcher = ReadyLauncher.start(KIND);
        assert.ok(launcher !== undefined);
        assert.ok([-EINVAL, -2].includes(launcher.handOver(plan, [source])));
        assert.equal(launcher.isReady, false);
      }
    } finally {
      libc.close(plan);
    }
  },
});
