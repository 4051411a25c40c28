import assert from "node:assert/strict";
import { createLog, silentLog } from "../../../lib/log.ts";
import { Exits } from "../../../lib/process/linux/exits.ts";
import { Poller } from "../../../lib/linux/poller.ts";
import { Watchdog } from "../../../lib/process/linux/watchdog.ts";
import {
  Bench,
  eventually,
  groupMembers,
  isAlive,
  leftOpen,
  openDescriptors,
  ownChildren,
  processes,
} from "../../support/linux.ts";
import { LinuxServer } from "../../support/linux_server.ts";

function watchdogOf(children: readonly number[]): number[] {
  return children.filter((pid) => Deno.readTextFileSync(`/proc/${pid}/cmdline`).includes("exec-server-watchdog"));
}

const gone = (group: number) => eventually(`group ${group} is gone`, () => groupMembers(group).length === 0, 1000);

Deno.test("no program survives a server that is killed by more than a second", async () => {
  await using server = new LinuxServer();
  const deaf = "trap '' HUP INT TERM; echo ready; sleep 300 & sleep 301";
  const groups = [
    await server.launch("pipes", deaf),
    await server.launch("terminal", deaf),
    await server.launch("pipes", "sleep 300 >/dev/null 2>&1 & echo ready"), // its leader is gone
  ];
  await eventually("the third leader has ended", () => server.lines.includes(`closed ${groups[2]}`));
  const ended = await server.launch("pipes", "echo ready");
  await eventually("the fourth has ended", () => server.lines.includes(`closed ${ended}`));
  const [watchdog] = watchdogOf(server.children());
  assert.ok(watchdog !== undefined);
  for (const group of groups) assert.ok(groupMembers(group).length > 0);
  server.kill("SIGKILL");
  for (const group of groups) await gone(group);
  await eventually("the watchdog has ended", () => !isAlive(watchdog));
});

Deno.test("a server that ends in an orderly way leaves neither programs nor the watchdog", async () => {
  let watchdog: number | undefined;
  let group: number;
  {
    await using server = new LinuxServer();
    group = await server.launch("pipes", "trap '' TERM; sleep 300 >/dev/null 2>&1 & echo ready");
    [watchdog] = watchdogOf(server.children());
  }
  assert.ok(watchdog !== undefined);
  await gone(group);
  await eventually("the watchdog has ended", () => !isAlive(watchdog!));
});

Deno.test("the watchdog holds nothing of the server, leads its own session and is deaf to what may end the server", async () => {
  await using server = new LinuxServer();
  await server.launch("pipes", "echo ready; exec sleep 300");
  const [watchdog] = watchdogOf(server.children());
  assert.ok(watchdog !== undefined);
  const [, , group, session] = processes().get(watchdog)!;
  assert.deepEqual([group, session], [String(watchdog), String(watchdog)]);
  const held = [...Deno.readDirSync(`/proc/${watchdog}/fd`)]
    .map(({ name }) => `${name} ${Deno.readLinkSync(`/proc/${watchdog}/fd/${name}`).replace(/\d+\]$/, "]")}`).sort();
  const table = "/memfd:exec-server-groups (deleted)";
  // The shell may keep a copy of the table for itself.
  assert.deepEqual(held.slice(0, 4), ["0 pipe:[]", "1 /dev/null", "2 /dev/null", `3 ${table}`]);
  assert.ok(held.slice(4).every((one) => one.endsWith(table)));
  for (const signal of ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"] as const) Deno.kill(watchdog, signal);
  await server.launch("pipes", "echo ready"); // time has passed
  assert.ok(isAlive(watchdog));
  assert.deepEqual(watchdogOf(server.children()), [watchdog]);
});

Deno.test("a watchdog that was killed is replaced at once, and the log tells", async () => {
  await using server = new LinuxServer();
  const group = await server.launch("pipes", "echo ready; exec sleep 300");
  const [first] = watchdogOf(server.children());
  Deno.kill(first!, "SIGKILL");
  await eventually("the log tells", () => server.errors.includes("no watchdog: a server that is killed leaves"));
  await eventually("there is another", () => watchdogOf(server.children()).some((pid) => pid !== first));
  server.kill("SIGKILL");
  await gone(group); // started before, but in the same table
});

Deno.test("without a shell there is no watchdog, and the log says so three times", () => {
  const lines: string[] = [];
  const before = openDescriptors();
  using poller = new Poller(silentLog);
  const exits = new Exits(poller, silentLog);
  {
    const log = createLog("warn", (line) => lines.push(line));
    using watchdog = new Watchdog({ log, exits, shell: "/no/such/shell" });
    for (let turn = 0; turn < 5; turn++) watchdog.ensure();
    watchdog.remove(watchdog.add(4711));
  }
  assert.deepEqual(
    lines.map((line) => line.replace(/^\S+ /, "")),
    [true, true, false].map((again) =>
      "WARN no watchdog: a server that is killed leaves its programs behind " +
      `reason="No such file or directory (os error 2)" triedAgain=${again}\n`
    ),
  );
  assert.equal(leftOpen(before).length, 2); // the poller's
});

Deno.test("the watchdog begins with the first program and is no program", async () => {
  const children = ownChildren();
  await using bench = new Bench();
  assert.deepEqual(ownChildren(), children);
  await bench.run("exit 0");
  const [watchdog, ...others] = ownChildren().filter((pid) => !children.includes(pid));
  assert.deepEqual(others, []);
  await bench.run("exit 0");
  assert.deepEqual(ownChildren().filter((pid) => !children.includes(pid)), [watchdog]);
});
