import assert from "node:assert/strict";
import { silentLog } from "../../../lib/log.ts";
import { cString, cStringArray } from "../../../lib/linux/cstring.ts";
import { Exits } from "../../../lib/process/linux/exits.ts";
import { type GroupRegister, LINGERING_CHECK_MS, ProcessGroups } from "../../../lib/process/linux/groups.ts";
import { Poller } from "../../../lib/linux/poller.ts";
import { posixSpawn } from "../../../lib/linux/posix_spawn.ts";
import { eventually, groupMembers, leftOpen, openDescriptors } from "../../support/linux.ts";
import { ManualClock } from "../../support/manual_clock.ts";

/** Groups with a register that remembers, and processes to be in them. */
class Scene implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly listed = new Map<number, string>();
  readonly #poller = new Poller(silentLog);
  readonly exits = new Exits(this.#poller, silentLog);
  readonly groups: ProcessGroups;

  constructor() {
    const register: GroupRegister = {
      add: (group) => {
        this.listed.set(group, "led");
        return group;
      },
      orphaned: (slot) => this.listed.set(slot, "orphaned"),
      remove: (slot) => this.listed.delete(slot),
    };
    this.groups = new ProcessGroups({ register, clock: this.clock, log: silentLog });
  }

  /** Starts a shell as the leader of a group; resolves when its exit status has been taken. */
  start(script: string): { group: ReturnType<ProcessGroups["add"]>; reaped: Promise<void> } {
    const pid = posixSpawn({
      path: cString("/bin/sh"),
      argv: cStringArray(["sh", "-c", script]),
      env: cStringArray(["PATH=/usr/bin:/bin"]),
      directory: cString("/"),
      descriptors: [],
    });
    assert.ok(pid > 0);
    const group = this.groups.add(pid);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.exits.await(pid, group.pidfd, () => {
      this.groups.leaderReaped(group);
      resolve();
    });
    return { group, reaped: promise };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.groups[Symbol.dispose]();
    await this.exits.idle();
    this.#poller[Symbol.dispose]();
    await this.#poller.idle();
    assert.equal(this.clock.pendingTimers, 0);
    assert.equal(this.listed.size, 0);
    assert.equal(this.groups.size, 0);
  }
}

Deno.test("a group without background children is forgotten with its leader", async () => {
  const before = openDescriptors();
  {
    await using scene = new Scene();
    const { group, reaped } = scene.start("exit 0");
    assert.deepEqual([...scene.listed], [[group.id, "led"]]);
    await reaped;
    assert.equal(scene.groups.size, 0);
    assert.equal(scene.listed.size, 0);
    assert.equal(scene.clock.pendingTimers, 0);
    scene.groups.kill(group); // nobody there: nothing to do
    scene.groups.check(group);
  }
  assert.deepEqual(leftOpen(before), []);
});

Deno.test("a group outlives its leader as long as it has a member, and is looked at every second", async () => {
  const before = openDescriptors();
  {
    await using scene = new Scene();
    const { group, reaped } = scene.start("sleep 60 & exit 0");
    await reaped;
    assert.deepEqual([...scene.listed], [[group.id, "orphaned"]]);
    scene.clock.advance(LINGERING_CHECK_MS * 3);
    scene.groups.check(group);
    assert.equal(scene.groups.size, 1);
    scene.groups.kill(group);
    await eventually("the group is forgotten", () => {
      scene.clock.advance(LINGERING_CHECK_MS);
      return scene.groups.size === 0;
    });
    assert.equal(scene.clock.pendingTimers, 0);
  }
  assert.deepEqual(leftOpen(before), []);
});

Deno.test("disposing kills every group, with or without its leader", async () => {
  const groups: number[] = [];
  {
    await using scene = new Scene();
    const led = scene.start("sleep 60 & sleep 61");
    const orphaned = scene.start("sleep 60 & exit 0");
    await orphaned.reaped;
    groups.push(led.group.id, orphaned.group.id);
    assert.equal(groupMembers(orphaned.group.id).length, 1);
  }
  for (const group of groups) await eventually("the group is empty", () => groupMembers(group).length === 0);
});
