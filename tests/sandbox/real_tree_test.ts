import assert from "node:assert/strict";
import { AT_FDCWD, makeDirectoryAt } from "../../lib/linux/file_calls.ts";
import { cString } from "../../lib/linux/cstring.ts";
import { fromText, toBytes } from "../../lib/sandbox/byte_path.ts";
import { mayRead, mayWrite } from "../../lib/sandbox/access.ts";
import { expandPolicy } from "../../lib/sandbox/expand_policy.ts";
import { portableTree } from "../../lib/sandbox/portable_tree.ts";
import { realTree } from "../../lib/sandbox/real_tree.ts";
import { restricted } from "./policy_notation.ts";

/** A directory of its own, with what a test makes in it. */
function temporary(): Disposable & { path: string } {
  const path = Deno.realPathSync(Deno.makeTempDirSync());
  return { path, [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }) };
}

for (const [name, tree] of Object.entries({ realTree, portableTree })) {
  Deno.test(`${name} tells directories, files and links apart`, () => {
    using root = temporary();
    Deno.mkdirSync(`${root.path}/d`);
    Deno.writeTextFileSync(`${root.path}/f`, "gitdir: x\n");
    Deno.symlinkSync("d", `${root.path}/l`);
    assert.deepEqual(["d", "f", "l", "no", "f/x"].map((name) => tree.kindOf(`${root.path}/${name}`)), [
      ...["directory", "file", "link", "missing", "missing"],
    ]);
    assert.equal(tree.kindOf(`${root.path}/${"x".repeat(300)}`), "unknown");
    assert.equal(tree.kindOf("/dev/null"), "file");
    assert.equal(tree.readLink(`${root.path}/l`), "d");
    assert.throws(() => tree.readLink(`${root.path}/f`), {
      name: "TreeError",
      message: new RegExp(`^cannot read the link ${root.path}/f: Invalid argument`),
    });
    assert.equal(tree.readStart(`${root.path}/f`, 6), "gitdir");
    assert.equal(tree.readStart(`${root.path}/f`, 600), "gitdir: x\n");
    assert.equal(tree.readStart(`${root.path}/no`, 6), "");
    assert.throws(() => tree.readStart(`${root.path}/l`, 6), { name: "TreeError" });
    const entries = [...tree.list(root.path)].sort((a, b) => a.name < b.name ? -1 : 1);
    assert.deepEqual(entries, [
      { name: "d", kind: "directory" },
      { name: "f", kind: "file" },
      { name: "l", kind: "link" },
    ]);
    assert.deepEqual([...tree.list(`${root.path}/no`)], []);
    assert.deepEqual([...tree.list(`${root.path}/f`)], []);
    // No link is followed.
    assert.deepEqual([...tree.list(`${root.path}/l`)], []);
  });
}

Deno.test("realTree lists directories that are larger than its buffer, and closes them when it is left early", () => {
  using root = temporary();
  for (let index = 0; index < 1500; index++) Deno.writeTextFileSync(`${root.path}/name-of-a-file-${index}`, "");
  assert.equal(new Set([...realTree.list(root.path)].map(({ name }) => name)).size, 1500);
  for (const _ of realTree.list(root.path)) break;
  const open = [...Deno.readDirSync("/proc/self/fd")].map(({ name }) => {
    try {
      return Deno.readLinkSync(`/proc/self/fd/${name}`);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      return "";
    }
  });
  assert.ok(!open.includes(root.path));
});

Deno.test("a plan is made for names that are no UTF-8", () => {
  using root = temporary();
  const odd = `${fromText(root.path)}/\xff\xfe`;
  assert.equal(makeDirectoryAt(AT_FDCWD, cString(toBytes(odd)), 0o755), 0);
  const entries = [
    { path: { kind: "path", path: odd }, access: "write" },
    { path: { kind: "path", path: `${odd}/nope` }, access: "deny" },
  ] as const;
  const plan = expandPolicy({ fileSystem: { ...restricted(""), entries }, network: "restricted" }, realTree);
  assert.deepEqual(plan.rules.map(({ path, found }) => [path, found]), [
    [odd, "directory"],
    ...[".agents", ".aws", ".codex", ".git"].map((name) => [`${odd}/${name}`, "missing"]),
    [`${odd}/nope`, "missing"],
  ]);
  assert.equal(mayWrite(plan, `${odd}/x`), true);
  assert.equal(mayRead(plan, `${odd}/nope`), false);
});

Deno.test("a program needs what the runtime directories lead to", () => {
  const plan = expandPolicy({ fileSystem: restricted("minimal:r"), network: "restricted" }, realTree);
  assert.equal(mayRead(plan, fromText(Deno.realPathSync("/bin/sh"))), true);
  assert.equal(mayRead(plan, "/root"), false);
  assert.equal(mayWrite(plan, "/etc/passwd"), false);
});
