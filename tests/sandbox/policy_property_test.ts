import assert from "node:assert/strict";
import fc from "fast-check";
import { mayRead, mayWrite } from "../../lib/sandbox/access.ts";
import { isAtOrBelow, parent } from "../../lib/sandbox/byte_path.ts";
import { resolve } from "../../lib/sandbox/canonical_path.ts";
import { expandPolicy } from "../../lib/sandbox/expand_policy.ts";
import { FakeTree } from "./fake_tree.ts";
import { PolicyOracle } from "./policy_oracle.ts";
import { pathsOf, randomPolicy, randomRoot } from "./random_policy.ts";

Deno.test("a plan decides as the entries do, one by one, for any policy and any tree", () => {
  const seen = { held: 0, refused: 0, read: 0, written: 0, neither: 0 };
  fc.assert(
    fc.property(randomRoot, randomPolicy, (top, fileSystem) => {
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
    fc.property(randomRoot, randomPolicy, (top, fileSystem) => {
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
  const shuffled = randomPolicy.chain((fileSystem) =>
    fc.tuple(
      fc.constant(fileSystem),
      fc.shuffledSubarray([...fileSystem.entries], { minLength: fileSystem.entries.length }),
    )
  );
  fc.assert(
    fc.property(randomRoot, shuffled, (top, [fileSystem, entries]) => {
      const tree = new FakeTree(top);
      const plan = expandPolicy({ fileSystem, network: "enabled" }, tree);
      const other = expandPolicy({ fileSystem: { ...fileSystem, entries }, network: "enabled" }, tree);
      assert.deepEqual(other.rules, plan.rules);
      assert.equal(other.refusal === undefined, plan.refusal === undefined);
    }),
    { numRuns: 500 },
  );
});
