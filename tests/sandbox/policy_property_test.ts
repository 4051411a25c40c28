import assert from "node:assert/strict";
import fc from "fast-check";
import { mayRead, mayWrite } from "../../lib/sandbox/access.ts";
import { isAtOrBelow, parent } from "../../lib/sandbox/byte_path.ts";
import { resolve } from "../../lib/sandbox/canonical_path.ts";
import { expandPolicy } from "../../lib/sandbox/expand_policy.ts";
import type { PolicyEntry, RestrictedFileSystem } from "../../lib/sandbox/policy.ts";
import { FakeTree, linkTo, type Node } from "./fake_tree.ts";
import { PolicyOracle } from "./policy_oracle.ts";

const NAMES = ["a", "b", "x.env", ".git", ".codex", "c"];
const name = fc.constantFrom(...NAMES);
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => `/${names.join("/")}`);

const text = fc.oneof(fc.constant(""), fc.constantFrom("gitdir: a", "gitdir: b/c\n", "gitdir: /a/b", "gitdir: ../a"));
const link = fc.oneof(path, fc.constantFrom("a", "b", "..", "../a", "../b/c", "nothing", "./c", "../../a")).map(linkTo);
const node: fc.Arbitrary<Node> = fc.letrec<{ node: Node; directory: Node }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    { weight: 2, arbitrary: text },
    { weight: 1, arbitrary: link },
    { weight: 6, arbitrary: tie("directory") },
  ),
  directory: fc.dictionary(name, tie("node"), { maxKeys: 4, noNullPrototype: true }),
})).node;
const root = fc.record({ a: node, b: node, c: node }, { requiredKeys: [] }).map((top) => ({
  ...top,
  tmp: {},
  usr: { c: "" },
}));

const pattern = fc.constantFrom(
  ...[
    "/a/*.env",
    "/a/**/*.env",
    "/a/**",
    "/a/*/**",
    "/a/b/*",
    "/b/**/c",
    "/a/?",
    "/b/*/*/*",
    "/b/{a,x}*",
    "/a/*/{b,c}/*",
  ],
  ...["/**/c", "/a/b/../*", "/*/a"],
).filter((pattern) => !pattern.includes(".."));
const subpath = fc.constantFrom(null, "a", "b/c", ".git", "../b", "./a", "/a", "a//b/");
const entry: fc.Arbitrary<PolicyEntry> = fc.record({
  access: fc.constantFrom("read", "write", "write", "deny"),
  path: fc.oneof(
    { weight: 10, arbitrary: path.map((path) => ({ kind: "path", path }) as const) },
    {
      weight: 3,
      arbitrary: fc.constantFrom("root", "minimal", "tmpdir", "slashTmp", "unknown").map((kind) => ({ kind }) as const),
    },
    { weight: 2, arbitrary: subpath.map((subpath) => ({ kind: "projectRoots", subpath }) as const) },
    { weight: 2, arbitrary: pattern.map((pattern) => ({ kind: "glob", pattern }) as const) },
  ),
});
const policy: fc.Arbitrary<RestrictedFileSystem> = fc.record({
  entries: fc.array(entry, { maxLength: 7 }),
  globScanMaxDepth: fc.constantFrom(null, null, 1, 2),
  cwd: fc.constant("/a"),
  workspaceRoots: fc.subarray(["/a", "/b", "/c/a"]),
  tmpdir: fc.constantFrom(null, "/b/a"),
});

/** Every canonical path of a tree, and beside each what is not there. */
function pathsOf(tree: FakeTree, directory = ""): string[] {
  const missing = [...NAMES, ".aws"].map((name) => `${directory}/${name}`).filter((path) =>
    tree.kindOf(path) === "missing"
  );
  const below = [...tree.list(directory === "" ? "/" : directory)].flatMap(({ name, kind }) => {
    const path = `${directory}/${name}`;
    return kind === "directory" ? [path, ...pathsOf(tree, path)] : [path];
  });
  return [...missing, ...missing.map((path) => `${path}/a`), ...below];
}

Deno.test("a plan decides as the entries do, one by one, for any policy and any tree", () => {
  const seen = { held: 0, refused: 0, read: 0, written: 0, neither: 0 };
  fc.assert(
    fc.property(root, policy, (top, fileSystem) => {
      const tree = new FakeTree(top);
      const plan = expandPolicy({ fileSystem, network: "restricted" }, tree);
      if (plan.fullWrite) return;
      const oracle = new PolicyOracle(fileSystem, tree);
      assert.equal(plan.refusal !== undefined, oracle.refuses(), plan.refusal ?? "held");
      if (plan.refusal !== undefined) return void seen.refused++;
      seen.held++;
      for (const path of ["/", ...pathsOf(tree)]) {
        const access = oracle.access(path);
        const isMissing = tree.kindOf(path) === "missing";
        const expected = access === "write" && isMissing && !oracle.mayCreate(path) ? "read" : access;
        // A missing path that must not be made may look like an empty file, or like one that cannot be read.
        const mayLookEmpty = access === "write" && expected === "read" || oracle.isDeniedBeforehand(path);
        if (!mayLookEmpty) assert.equal(mayRead(plan, path), access !== "none", path);
        assert.equal(mayWrite(plan, path), expected === "write", path);
        seen[expected === "none" ? "neither" : expected === "read" ? "read" : "written"]++;
      }
    }),
    { numRuns: 2000 },
  );
  for (const [what, count] of Object.entries(seen)) assert.ok(count > 20, `${what}: ${count}`);
});

Deno.test("a plan is sorted, says nothing twice, and names what it found", () => {
  fc.assert(
    fc.property(root, policy, (top, fileSystem) => {
      const tree = new FakeTree(top);
      const { rules } = expandPolicy({ fileSystem, network: "restricted" }, tree);
      rules.forEach((rule, index) => {
        assert.ok(index === 0 || rules[index - 1]!.path < rule.path);
        const above = rules.slice(0, index).findLast(({ path }) => isAtOrBelow(rule.path, path));
        assert.notEqual(rule.access, above?.access, rule.path);
        assert.ok(!(rule.access === "read" && above?.access === "deny"), rule.path);
        assert.equal(tree.kindOf(rule.path), rule.found);
        // Nothing leads there but its own name, and what is missing could be made.
        assert.equal(resolve(tree, rule.path).path, rule.path);
        if (rule.found === "missing") assert.equal(tree.kindOf(parent(rule.path)), "directory");
      });
    }),
    { numRuns: 1000 },
  );
});

Deno.test("the order of entries does not matter", () => {
  const shuffled = policy.chain((fileSystem) =>
    fc.tuple(
      fc.constant(fileSystem),
      fc.shuffledSubarray([...fileSystem.entries], { minLength: fileSystem.entries.length }),
    )
  );
  fc.assert(
    fc.property(root, shuffled, (top, [fileSystem, entries]) => {
      const tree = new FakeTree(top);
      const plan = expandPolicy({ fileSystem, network: "enabled" }, tree);
      const other = expandPolicy({ fileSystem: { ...fileSystem, entries }, network: "enabled" }, tree);
      assert.deepEqual(other.rules, plan.rules);
      assert.equal(other.refusal === undefined, plan.refusal === undefined);
    }),
    { numRuns: 500 },
  );
});
