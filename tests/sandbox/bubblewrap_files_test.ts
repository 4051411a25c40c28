import assert from "node:assert/strict";
import { expandPolicy } from "../../lib/sandbox/expand_policy.ts";
import type { PolicyEntry } from "../../lib/sandbox/policy.ts";
import { realTree } from "../../lib/sandbox/real_tree.ts";
import { type Ground, inside, planOf, READ_ALL, run } from "./support/bubblewrap_run.ts";

inside("writable, read-only and writable again", (ground, user) => {
  ground.lay({ "ws/a": "a", "ws/sub/b": "b", "ws/sub/deep/c": "c", "out/s": "s" });
  const rules = [
    READ_ALL,
    ground.rule("ws", "write"),
    ground.rule("ws/sub", "read"),
    ground.rule("ws/sub/deep", "write"),
  ];
  const script = "for f in a sub/b sub/deep/c ../out/s; do cat $f; (echo x > $f) 2>&1 | sed 's/.*: //'; done";
  const { stdout } = run(ground, planOf(rules), script, { user });
  assert.equal(stdout, "ab" + "Read-only file system\n" + "cs" + "Read-only file system\n");
  const found = ["ws/a", "ws/sub/b", "ws/sub/deep/c", "out/s"].map((name) => ground.read(name));
  assert.deepEqual(found, ["x\n", "b", "x\n", "s"]);
});

inside("denied files and directories cannot be read, changed or opened up", (ground, user) => {
  ground.lay({ "ws/.env": "SECRET", "ws/secret/key": "SECRET", "ws/secret/a/work/w": "w", "ws/dir/key": "SECRET" });
  const rules = [
    ...[READ_ALL, ground.rule("ws", "write"), ground.rule("ws/.env", "deny", "file"), ground.rule("ws/dir", "deny")],
    ...[ground.rule("ws/secret", "deny"), ground.rule("ws/secret/a/work", "write")],
  ];
  const script = `
    for c in "cat .env" "ls dir" "cat dir/key" "ls secret" "touch secret/new" "chmod 755 dir" "chmod 644 .env" \\
      "cat secret/a/work/w" "mv .env e" "rm -f .env" "rmdir dir" "mv dir d" "ln .env e" "touch secret/a/work/new"
    do $c 2>&1 | sed "s/.*: //"; done; stat -c "%a %F" .env dir secret`;
  const { stdout } = run(ground, planOf(rules), script, { user });
  const [denied, readOnly, busy] = ["Permission denied", "Read-only file system", "Device or resource busy"];
  assert.deepEqual(
    stdout.trim().split("\n"),
    [
      ...[denied, denied, denied, denied, readOnly, readOnly, readOnly, "wbusy"],
      ...[busy, busy, busy, "Invalid cross-device link"],
      ...["0 regular empty file", "0 directory", "111 directory"],
    ].flatMap((line) => line === "wbusy" ? [`w${busy}`] : [line]),
  );
  assert.equal(ground.read("ws/.env"), "SECRET");
  assert.ok(Deno.statSync(`${ground.directory}/ws/secret/a/work/new`).isFile);
});

inside("protected names, there or missing, stay as they are; so do missing ones that are denied", (ground, user) => {
  ground.lay({ "ws/.git/config": "cfg", "ws/src": null });
  const path = (name: string) => ({ kind: "path", path: ground.path(name) }) as const;
  const entries: PolicyEntry[] = [
    { path: { kind: "root" }, access: "read" },
    { path: path("ws"), access: "write" },
    { path: path("ws/new"), access: "deny" },
  ];
  const fileSystem = { entries, globScanMaxDepth: null, cwd: null, workspaceRoots: [], tmpdir: null };
  const plan = expandPolicy({ fileSystem, network: "restricted" }, realTree);
  const script = `
    for c in "touch .git/config" "mv .git g" "rmdir .codex" "touch .aws/x" "chmod 700 .agents" "touch new" "rm new" "rm -r .git"
    do $c 2>&1 | sed "s/.*: //"; done; ls .codex; cat .git/config; stat -c %a .codex; wc -c new; touch src/fine`;
  const { stdout } = run(ground, plan, script, { user });
  const [readOnly, busy] = ["Read-only file system", "Device or resource busy"];
  const expected = [readOnly, busy, busy, readOnly, readOnly, readOnly, busy, readOnly, "cfg555", "0 new"];
  assert.deepEqual(stdout.trim().split("\n"), expected);
  assert.ok(Deno.statSync(`${ground.directory}/ws/src/fine`).isFile);
});

inside("directories that hold what is narrowed cannot be renamed, others can", (ground, user) => {
  ground.lay({ "ws/a/b/keep/k": "k", "ws/other/x": "x" });
  const plan = planOf([READ_ALL, ground.rule("ws", "write"), ground.rule("ws/a/b/keep", "read")]);
  const script = `for d in a a/b a/b/keep ../ws other; do mv $d $d-2 2>&1 | sed "s/.*: //"; done; touch a/b/new && ls`;
  const { stdout } = run(ground, plan, script, { user });
  const busy = "Device or resource busy\n";
  assert.equal(stdout, busy.repeat(3) + "Read-only file system\n" + "a\nother-2\n");
});

inside("what lies outside cannot be written, linked, or given other rights", (ground, user) => {
  ground.lay({ "ws/a": "a", "out/s": "s" });
  const script =
    `for c in "touch ../out/s" "chmod 600 ../out/s" "chown 0:0 ../out/s" "ln ../out/s l" "mv ../out/s s" "touch /usr/x" "rm ../out/s"
    do $c 2>&1 | sed "s/.*: //"; done`;
  const { stdout } = run(ground, planOf([READ_ALL, ground.rule("ws", "write")]), script, { user });
  const readOnly = "Read-only file system";
  const lines = stdout.trim().split("\n");
  assert.deepEqual(lines, [readOnly, readOnly, readOnly, "Invalid cross-device link", readOnly, readOnly, readOnly]);
  assert.equal(ground.read("out/s"), "s");
});

const MINIMAL: PolicyEntry = { path: { kind: "minimal" }, access: "read" };

inside("where little may be read the rest is not there, and scratch space is lost or read-only", (ground, user) => {
  ground.lay({ "ws/a": "a", "out/s": "s", "none": null });
  const entries: PolicyEntry[] = [MINIMAL, { path: { kind: "path", path: ground.path("ws") }, access: "write" }];
  const fileSystem = { entries, globScanMaxDepth: null, cwd: null, workspaceRoots: [], tmpdir: null };
  const plan = expandPolicy({ fileSystem, network: "restricted" }, realTree);
  const script =
    `cat a; cat ../out/s 2>&1 | sed "s/.*: //"; ls ..; for f in ../lost /lost /dev/lost; do touch $f 2>&1 | sed "s/.*: //"; done
    for f in ../lost /lost; do test -e $f && echo made; done; echo x > /dev/null && ls -d /bin`;
  const writable = run(ground, plan, script, { user });
  assert.equal(writable.stdout, "aNo such file or directory\nws\nmade\nmade\n/bin\n");
  for (const name of [".git", ".codex", ".agents", ".aws"]) Deno.removeSync(`${ground.directory}/ws/${name}`);
  const readOnly = run(ground, plan, script, { user, scratch: "readOnly" });
  assert.equal(readOnly.stdout, "aNo such file or directory\nws\n" + "Read-only file system\n".repeat(3) + "/bin\n");
  assert.deepEqual([...Deno.readDirSync(ground.directory)].map(({ name }) => name).sort(), [
    "none",
    "out",
    "own",
    "ws",
  ]);
});

inside("names that are not UTF-8 are granted and denied like others", (ground, user) => {
  ground.lay({ "ws": null });
  const name = (byte: string) => [..."odd", byte].join("");
  const make = `mkdir -p "$0/ws/$(printf 'odd\\377')" "$0/ws/$(printf 'odd\\376')"`;
  assert.ok(new Deno.Command("/bin/sh", { args: ["-c", make, ground.directory] }).outputSync().success);
  ground.give();
  const at = (byte: string) => ({ ...ground.rule("ws", "write"), path: `${ground.path("ws")}/${name(byte)}` });
  const plan = planOf([READ_ALL, { ...at("\xfe"), access: "deny" }, at("\xff")]);
  const script =
    `touch "$(printf 'odd\\377')/new"; ls "$(printf 'odd\\377')"; ls "$(printf 'odd\\376')" 2>&1 | sed "s/.*: //"`;
  assert.equal(run(ground, plan, script, { user }).stdout, "new\nPermission denied\n");
});

inside("whatever cannot be mounted ends it before the program begins", (ground, user) => {
  ground.lay({ "ws": null, "w/a": null });
  const plan = planOf([READ_ALL, ground.rule("w/a", "write"), ground.rule("ws", "write")]);
  const beforeStarting = () => Deno.removeSync(ground.path("w/a"));
  const { code, stdout, stderr } = run(ground, plan, "echo ran", { user, beforeStarting });
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /^bwrap: Can't find source path .*: No such file or directory\n$/);
});

/** Puts a link to `out` in the place of a directory. */
function swap(ground: Ground, name: string): void {
  Deno.renameSync(`${ground.directory}/${name}`, `${ground.directory}/${name}-away`);
  Deno.symlinkSync(`${ground.directory}/out`, `${ground.directory}/${name}`);
}

inside("a link in the place of what was granted ends it, whenever it is put there", (ground, user) => {
  ground.lay({ "ws": null, "w/a": null, "out/s": "s" });
  const plan = planOf([READ_ALL, ground.rule("w/a", "write"), ground.rule("ws", "write")]);
  const script = "echo ran; echo changed > ../out/s";
  const early = () => run(ground, plan, script, { user, beforeOpening: () => swap(ground, "w/a") });
  assert.throws(early, { kind: "sandboxUnavailable", message: /^sandbox unavailable: cannot look up .*\/w\/a: / });
  Deno.removeSync(`${ground.directory}/w/a`);
  Deno.renameSync(`${ground.directory}/w/a-away`, `${ground.directory}/w/a`);
  const late = run(ground, plan, script, { user, beforeStarting: () => swap(ground, "w/a") });
  assert.deepEqual([late.code, late.stdout], [1, ""], late.stderr);
  assert.equal(ground.read("out/s"), "s");
});
