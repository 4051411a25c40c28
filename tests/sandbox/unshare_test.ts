import assert from "node:assert/strict";
import { fromText } from "../../lib/sandbox/byte_path.ts";
import type { LauncherCommand } from "../../lib/sandbox/launcher_command.ts";
import { type Mount, mountPlan } from "../../lib/sandbox/mount_plan.ts";
import type { AccessPlan, AccessRule, NetworkAccess } from "../../lib/sandbox/policy.ts";
import { unshareArguments, unsharePlan } from "../../lib/sandbox/unshare.ts";
import { namespacesMissing, networkFilterText, type Outcome, script, users, Workplace } from "./support/launcher.ts";

const command: LauncherCommand = { argv: ["/usr/bin/self", "word", "3"], env: {} };

Deno.test("the network namespace is left out where the network is allowed", () => {
  assert.ok(unshareArguments("/usr/bin/unshare", command, "restricted").includes("--net"));
  assert.ok(!unshareArguments("/usr/bin/unshare", command, "enabled").includes("--net"));
  assert.deepEqual(unshareArguments("/usr/bin/unshare", command, "enabled").slice(-3), command.argv);
});

/** A rule with what is there by its path's end: `…/` is a directory. */
function rule(path: string, access: AccessRule["access"], more: Partial<AccessRule> = {}): AccessRule {
  const found = path.endsWith("/") && path !== "/" || path === "/" ? "directory" : "file";
  return { path: fromText(path === "/" ? path : path.replace(/\/$/, "")), access, found, isProtection: false, ...more };
}

function planOf(rules: AccessRule[], network: NetworkAccess = "restricted"): AccessPlan {
  const sorted = rules.toSorted((one, other) => one.path < other.path ? -1 : 1);
  const root = rules.find(({ path }) => path === "/");
  const fullRead = root !== undefined && !rules.some(({ access }) => access === "deny");
  return { fullRead, fullWrite: false, network, rules: sorted, links: [], refusal: undefined };
}

async function run(place: Workplace, plan: AccessPlan, text: string, cwd = place.root): Promise<Outcome> {
  const mounts: readonly Mount[] = mountPlan(plan, { scratch: "readOnly" });
  const { network } = plan;
  return await place.launch(unsharePlan(mounts, [networkFilterText(network)], script(text, cwd)), network);
}

function start(place: Workplace, text: string): Deno.ChildProcess {
  const mounts = mountPlan(planOf([rule("/", "read")]), { scratch: "readOnly" });
  return place.start(unsharePlan(mounts, [networkFilterText("restricted")], script(text, place.root)), "restricted");
}

/** Waits until the program says something, then lets `act` see what else it says. */
async function firstOutput(
  child: Deno.ChildProcess,
  act: (rest: AsyncIterator<Uint8Array>) => Promise<void>,
): Promise<void> {
  const output = child.stdout[Symbol.asyncIterator]();
  assert.equal(new TextDecoder().decode((await output.next()).value), "ready\n");
  await act(output);
  await output.return?.();
  await Promise.all([child.stderr.cancel(), child.status]);
}

/** Lets each line of a script say whether its command succeeded. */
const REPORT = 'try() { name=$1; shift; "$@" >/dev/null 2>&1 && echo "$name: done" || echo "$name: denied"; }\n';

for (const user of users) {
  const ignore = Deno.build.os !== "linux" || namespacesMissing(user);
  const test = (name: string, fn: () => Promise<void>) => Deno.test({ name: `${name} (${user})`, ignore, fn });

  test("a workspace can be written except what is protected and denied in it", async () => {
    using place = new Workplace(user);
    const ws = place.directory("ws");
    place.directory("ws/.git");
    place.directory("ws/private");
    place.file("ws/private/key", "secret");
    place.file("ws/.env", "secret");
    place.file("outside", "old");
    const plan = planOf([
      rule("/", "read"),
      rule(`${ws}/`, "write"),
      rule(`${ws}/.git/`, "read", { isProtection: true }),
      rule(`${ws}/private/`, "deny"),
      rule(`${ws}/.env`, "deny"),
    ]);
    const { stdout, stderr, code } = await run(
      place,
      plan,
      `${REPORT}
      try write sh -c 'echo new > made'
      try chmod chmod 600 made
      try protected sh -c 'echo x > .git/config'
      try rename mv .git other
      try remove rm -r .git
      try list ls private
      try read cat private/key
      try uncover chmod 700 private
      try file cat .env
      try replace rm -f .env
      try outside sh -c 'echo x > ../outside'
      try mode chmod 777 ../outside
      try time touch ../outside
      try read-outside cat ../outside
      try unmount umount private
      try remount mount -o remount,rw .git
      try tmpfs mount -t tmpfs none /mnt
      try namespace unshare --user --map-root-user true
      try link ln ../outside linked`,
      ws,
    );
    assert.deepEqual(
      stdout.trim().split("\n").filter((line) => line.endsWith("done")),
      ["write: done", "chmod: done", "read-outside: done"],
      stderr,
    );
    assert.equal(stdout.trim().split("\n").length, 19);
    assert.equal(code, 0);
    assert.equal(Deno.readTextFileSync(`${ws}/made`), "new\n");
    assert.equal(Deno.readTextFileSync(`${ws}/private/key`), "secret");
    assert.equal(Deno.readTextFileSync(`${place.root}/outside`), "old");
    assert.deepEqual([...Deno.readDirSync(`${ws}/.git`)], []);
  });

  test("where little may be read the rest does not exist", async () => {
    using place = new Workplace(user);
    place.directory("seen");
    place.file("seen/file", "seen");
    place.file("unseen", "unseen");
    const system = ["/usr", "/etc"].map((path) => rule(`${path}/`, "read"));
    const links = ["/bin", "/lib", "/lib64"].filter((path) => Deno.lstatSync(path).isSymlink);
    const bound = ["/bin", "/lib", "/lib64"].filter((path) => !links.includes(path)).map((path) =>
      rule(`${path}/`, "read")
    );
    const plan: AccessPlan = {
      ...planOf([...system, ...bound, rule(`${place.root}/seen/`, "read")]),
      links: links.map((path) => ({ path, target: Deno.readLinkSync(path) })),
    };
    const { stdout, stderr } = await run(
      place,
      plan,
      `pwd; cat seen/file; ls ${place.root} /home /root 2>&1; cat unseen; echo x > /new; echo x > seen/new; ls /`,
      place.root,
    );
    assert.match(stdout, new RegExp(`^${place.root}\nseen`));
    assert.match(stdout, /No such file or directory/);
    assert.doesNotMatch(stdout, /unseen/);
    assert.match(stderr, /cat: unseen: No such file/);
    assert.match(stderr, /cannot create \/new: Read-only file system/);
    assert.match(stderr, /cannot create seen\/new: Read-only file system/);
    assert.match(stdout, /\nproc\n/);
  });

  test("a program sees its own processes only, is not the first of them, and has no rights left", async () => {
    using place = new Workplace(user);
    const { stdout, code } = await run(
      place,
      planOf([rule("/", "read")]),
      `echo $$ $PPID; grep -E '^(Cap...|NoNewPrivs|Seccomp|Threads):' /proc/self/status | tr -s '\\t ' ' '
       ls /proc | grep -c '^[0-9]'; ls /proc/self/fd | wc -l; test -d /proc/${Deno.pid} || echo hidden
       cat /proc/1/environ /proc/1/root/etc/passwd 2>/dev/null || echo closed; exit 7`,
    );
    const none = "0000000000000000";
    const caps = ["Inh", "Prm", "Eff", "Bnd", "Amb"].map((set) => `Cap${set}: ${none}`);
    const [ids, ...lines] = stdout.trim().split("\n");
    assert.match(ids!, /^2 1$/);
    assert.deepEqual(lines.slice(0, 8).toSorted(), [...caps, "NoNewPrivs: 1", "Seccomp: 2", "Threads: 1"].toSorted());
    // The shell of process 1, the script's, ls and grep; and of descriptors the three and that of the directory.
    assert.deepEqual(lines.slice(8), ["4", "4", "hidden", "closed"]);
    assert.equal(code, 7);
  });

  test("a signal ends a program as usual, and nothing is said of it", async () => {
    using place = new Workplace(user);
    const plan = planOf([rule("/", "read")]);
    const { code, stdout, stderr } = await run(place, plan, "kill -TERM $$; echo survived");
    assert.deepEqual({ code, stdout, stderr }, { code: 128 + 15, stdout: "", stderr: "" });
  });

  test("whoever kills the outermost process kills all that was started", async () => {
    using place = new Workplace(user);
    const child = start(place, "echo ready; (trap '' TERM HUP; setsid sleep 600) & exec sleep 600");
    await firstOutput(child, async (rest) => {
      child.kill("SIGKILL");
      // It ends when nobody holds the other end any more.
      assert.deepEqual(await rest.next(), { done: true, value: undefined });
    });
  });

  for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
    test(`${signal} for the group ends all at once, whatever the program would do with it`, async () => {
      using place = new Workplace(user);
      const child = start(place, "trap 'echo caught' INT TERM; echo ready; while :; do sleep 0.01; done");
      await firstOutput(child, async (rest) => {
        Deno.kill(-child.pid, signal);
        assert.deepEqual(await rest.next(), { done: true, value: undefined });
        assert.equal((await child.status).code, code);
      });
    });
  }

  test("a program leads a session of its own", async () => {
    using place = new Workplace(user);
    const script = "read -r pid _ _ _ group session _ </proc/self/stat; echo $pid $group $session";
    const { stdout } = await run(place, planOf([rule("/", "read")]), script);
    assert.equal(stdout, "2 2 2\n");
  });

  test("a program is told where it begins, which is the root where its directory cannot be entered", async () => {
    using place = new Workplace(user);
    const ws = place.directory("ws");
    const variables = async (access: AccessRule["access"], env: readonly string[]) => {
      const mounts = mountPlan(planOf([rule("/", "read"), rule(`${ws}/`, access)]), { scratch: "readOnly" });
      const program = { file: "/usr/bin/env", argv: ["/usr/bin/env"], env, cwd: fromText(ws) };
      const plan = unsharePlan(mounts, [networkFilterText("restricted")], program);
      return (await place.launch(plan, "restricted")).stdout;
    };
    assert.equal(await variables("read", ["A=1", "B=2"]), `A=1\nB=2\nPWD=${ws}\n`);
    assert.equal(await variables("deny", ["PWD=elsewhere", "B=2"]), "PWD=/\nB=2\n");
  });

  test("the network is gone, or is there if it is allowed", async () => {
    using place = new Workplace(user);
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr as Deno.NetAddr;
    const connect = `exec bash -c 'exec 4<>/dev/tcp/127.0.0.1/${port}' 2>&1`;
    const restricted = await run(place, planOf([rule("/", "read")]), connect);
    assert.match(restricted.stdout, /Operation not permitted/);
    assert.notEqual(restricted.code, 0);
    const [{ code, stdout }, connection] = await Promise.all([
      run(place, planOf([rule("/", "read")], "enabled"), connect),
      listener.accept(),
    ]);
    connection.close();
    assert.deepEqual({ code, stdout }, { code: 0, stdout: "" });
  });

  // The terminal is its own user's, who runs the tests.
  if (user === "self") {
    test("a program on a terminal knows it by a name that leads to it, and is not controlled by it", async () => {
      using place = new Workplace(user);
      const mounts = mountPlan(planOf([rule("/", "read")]), { scratch: "readOnly" });
      const program = script(
        "tty; (: </dev/tty) 2>/dev/null || echo none; echo by name > $(tty); stty size",
        place.root,
      );
      const plan = unsharePlan(mounts, [networkFilterText("restricted")], program);
      const output = await place.onTerminal(plan, "restricted");
      assert.match(output, /^pty:\/dev\/console\nnone\nby name\n24 80\n\nexited 0\nclosed$/);
    });
  }

  test("a path of the plan that has become a link ends the launch before the program runs", async () => {
    using place = new Workplace(user);
    const ws = place.directory("ws");
    place.directory("elsewhere");
    Deno.symlinkSync("../elsewhere", `${ws}/sub`);
    const plan = planOf([rule("/", "read"), rule(`${ws}/sub/`, "write")]);
    const { code, stdout, stderr } = await run(place, plan, "echo ran");
    assert.deepEqual(
      { code, stdout, stderr },
      { code: 126, stdout: "", stderr: `sandbox: openat2 ${ws}/sub: Symbolic link loop (os error 40)\n` },
    );
  });

  test("no mount point is made on the machine: a missing one ends the launch", async () => {
    using place = new Workplace(user);
    const ws = place.directory("ws");
    const plan = planOf([
      rule("/", "read"),
      rule(`${ws}/`, "write"),
      rule(`${ws}/.git/`, "read", { found: "missing", isProtection: true }),
    ]);
    const { code, stderr } = await run(place, plan, "echo ran");
    assert.deepEqual({ code, stderr }, {
      code: 126,
      stderr: `sandbox: openat2 ${ws}/.git: No such file or directory (os error 2)\n`,
    });
    assert.deepEqual([...Deno.readDirSync(ws)], []);
  });
}
