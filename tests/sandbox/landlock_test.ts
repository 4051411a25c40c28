import assert from "node:assert/strict";
import * as libc from "../../lib/linux/libc.ts";
import { openTerminal } from "../../lib/process/linux/terminal.ts";
import { fromBytes, fromText } from "../../lib/sandbox/byte_path.ts";
import { landlockObstacle, landlockPlan } from "../../lib/sandbox/landlock.ts";
import { MIN_LANDLOCK_VERSION } from "../../lib/sandbox/landlock_version.ts";
import { metadataFilter } from "../../lib/sandbox/metadata_filter.ts";
import type { AccessPlan, AccessRule, NetworkAccess } from "../../lib/sandbox/policy.ts";
import { landlockMissing, networkFilterText, type Outcome, script, users, Workplace } from "./support/launcher.ts";

function rule(path: string, access: AccessRule["access"], more: Partial<AccessRule> = {}): AccessRule {
  return { path: fromText(path), access, found: "directory", isProtection: false, ...more };
}

function planOf(rules: AccessRule[], network: NetworkAccess = "restricted"): AccessPlan {
  const fullRead = rules.some(({ path }) => path === "/") && !rules.some(({ access }) => access === "deny");
  return { fullRead, fullWrite: false, network, rules, links: [], refusal: undefined };
}

function obstacle(...rules: AccessRule[]): string | undefined {
  return landlockObstacle(planOf(rules), MIN_LANDLOCK_VERSION);
}

Deno.test("Landlock holds what only adds to what is granted above", () => {
  assert.equal(obstacle(rule("/", "read")), undefined);
  assert.equal(obstacle(rule("/a", "read"), rule("/b", "read")), undefined);
  assert.equal(obstacle(rule("/", "read"), rule("/a", "write"), rule("/a/.git", "write")), undefined);
  assert.equal(obstacle(rule("/a", "deny"), rule("/a/b", "write")), undefined);
});

Deno.test("Landlock does not hold what is taken back below a grant, and says so", () => {
  const protect = /^Landlock cannot protect what lies below a granted directory$/;
  const deny = /^Landlock cannot deny what lies below a granted directory$/;
  assert.match(obstacle(rule("/", "read"), rule("/a", "write"), rule("/a/.git", "read")) ?? "", protect);
  assert.match(obstacle(rule("/a", "write"), rule("/a/.git", "read", { found: "missing" })) ?? "", protect);
  assert.match(obstacle(rule("/", "read"), rule("/a", "deny")) ?? "", deny);
  assert.match(obstacle(rule("/a", "write"), rule("/a/b", "deny"), rule("/a/b/c", "read")) ?? "", deny);
  // Further up counts as well: a grant reaches through what is denied in between.
  assert.match(obstacle(rule("/", "write"), rule("/a/b", "read")) ?? "", protect);
});

Deno.test("Landlock does not hold a network where not everything may be read: unix sockets are reached unseen", () => {
  const sockets = /unix sockets that they may not see$/;
  assert.match(landlockObstacle(planOf([rule("/a", "read")], "enabled"), MIN_LANDLOCK_VERSION) ?? "", sockets);
  assert.equal(landlockObstacle(planOf([rule("/", "read")], "enabled"), MIN_LANDLOCK_VERSION), undefined);
});

Deno.test("without Landlock, with an old one and for a refused plan there is a reason", () => {
  const plan = planOf([rule("/", "read")]);
  assert.match(landlockObstacle(plan, -38) ?? "", /no Landlock/);
  assert.match(landlockObstacle(plan, 4) ?? "", /version 4; version 6 \(Linux 6.12\) is needed/);
  assert.equal(landlockObstacle({ ...plan, refusal: "a link" }, 7), "a link");
});

Deno.test("what may be read below what is denied gets no rule, what may be written there does", () => {
  const plan = planOf([
    rule("/a", "deny"),
    rule("/a/b", "read"),
    rule("/a/c", "write"),
    rule("/a/c/d", "write"),
    rule("/e", "write", { found: "missing" }),
  ]);
  const { confinement } = landlockPlan(plan, [], script("", "/"));
  assert.ok(confinement.kind === "landlock");
  const granted = confinement.rules.filter(({ path }) => /^\/[a-e](\/|$)/.test(path));
  assert.deepEqual(granted, [{ path: "/a/c", access: "write" }, { path: "/a/c/d", access: "write" }]);
});

async function run(place: Workplace, plan: AccessPlan, text: string): Promise<Outcome> {
  assert.equal(landlockObstacle(plan, MIN_LANDLOCK_VERSION), undefined);
  const metadata = fromBytes(metadataFilter(Deno.build.arch === "aarch64" ? "aarch64" : "x86_64"));
  const filters = [networkFilterText(plan.network), metadata];
  return await place.launch(landlockPlan(plan, filters, script(text, place.root)), undefined);
}

const REPORT = 'try() { name=$1; shift; "$@" >/dev/null 2>&1 && echo "$name: done" || echo "$name: denied"; }\n';

for (const user of users) {
  const ignore = Deno.build.os !== "linux" || landlockMissing(user);
  const test = (name: string, fn: () => Promise<void>) => Deno.test({ name: `${name} (${user})`, ignore, fn });

  test("nothing can be written where all may be read, nor any mode, owner or time be changed", async () => {
    using place = new Workplace(user);
    place.file("file", "old");
    place.directory("empty");
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { stdout } = await run(
      place,
      planOf([rule("/", "read")]),
      `${REPORT}
      try read cat file
      try devices sh -c 'echo x > /dev/null; head -c 4 /dev/urandom'
      try write sh -c 'echo new > file'
      try append sh -c 'echo new >> file'
      try truncate truncate -s 0 file
      try make touch made
      try chmod chmod 600 file
      try chown chown $(id -u) file
      try touch touch file
      try rename mv file other
      try link ln file other
      try symlink ln -s file other
      try remove rm -f file
      try rmdir rmdir empty
      try mkdir mkdir made
      try fifo mkfifo made
      try mount mount -t tmpfs none empty
      try signal kill -0 ${Deno.pid}
      try environ cat /proc/${Deno.pid}/environ
      try descriptors readlink /proc/${Deno.pid}/fd/0
      try limits prlimit --pid ${Deno.pid} --core=0
      try connect bash -c 'exec 4<>/dev/tcp/127.0.0.1/${(listener.addr as Deno.NetAddr).port}'`,
    );
    const lines = stdout.trim().split("\n");
    assert.deepEqual(lines.filter((line) => line.endsWith("done")), ["read: done", "devices: done"]);
    assert.equal(lines.length, 22);
    assert.equal(Deno.readTextFileSync(`${place.root}/file`), "old");
    assert.deepEqual([...Deno.readDirSync(place.root)].map(({ name }) => name).sort(), ["cache", "empty", "file"]);
  });

  test("only what is granted can be read or written", async () => {
    using place = new Workplace(user);
    place.directory("open");
    place.file("open/file", "old");
    place.file("single", "old");
    place.file("secret", "secret");
    Deno.symlinkSync("../secret", `${place.root}/open/link`);
    const system = ["/usr", "/etc", "/bin", "/lib", "/lib64"].map((path) => rule(Deno.realPathSync(path), "read"));
    const { stdout, stderr } = await run(
      place,
      planOf([
        ...system,
        rule(`${place.root}/open`, "write"),
        rule(`${place.root}/single`, "write", { found: "file" }),
      ]),
      `${REPORT}
      try write sh -c 'echo new > open/file'
      try make mkdir open/made
      try rename mv open/made open/other
      try single sh -c 'echo new > single'
      try secret cat secret
      try link cat open/link
      try list ls .
      try hard ln secret open/hard
      try out mv open/file moved`,
    );
    const done = ["write: done", "make: done", "rename: done", "single: done"];
    assert.deepEqual(stdout.trim().split("\n").filter((line) => line.endsWith("done")), done, stderr);
    assert.equal(Deno.readTextFileSync(`${place.root}/single`), "new\n");
  });

  // The terminal is its own user's, who runs the tests.
  if (user === "self") {
    test("a program on a terminal can use that by its name, and no other terminal of its user", async () => {
      using place = new Workplace(user);
      const { master, slavePath } = openTerminal({ rows: 24, columns: 80 });
      try {
        const other = new TextDecoder().decode(slavePath).split("\0")[0];
        const text = `echo by name > $(tty); (echo by name > ${other}) 2>/dev/null || echo not another`;
        const filters = [networkFilterText("restricted")];
        const plan = landlockPlan(planOf([rule("/", "read")]), filters, script(text, place.root));
        assert.match(await place.onTerminal(plan, undefined), /^pty:by name\nnot another\n\nexited 0\nclosed$/);
      } finally {
        libc.close(master);
      }
    });
  }

  test("no rights are left, and one thread", async () => {
    using place = new Workplace(user);
    const { stdout } = await run(
      place,
      planOf([rule("/", "read")]),
      "grep -E '^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs|Seccomp_filters|Threads):' /proc/self/status | tr -s '\\t ' ' '",
    );
    const none = "0000000000000000";
    assert.deepEqual(stdout.trim().split("\n").toSorted(), [
      ...["Amb", "Eff", "Inh", "Prm"].map((set) => `Cap${set}: ${none}`),
      "NoNewPrivs: 1",
      "Seccomp_filters: 2",
      "Threads: 1",
    ]);
  });
}
