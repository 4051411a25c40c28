import assert from "node:assert/strict";
import { neededMountPoints } from "../../lib/sandbox/needed_mount_points.ts";
import type { AccessPlan, AccessRule } from "../../lib/sandbox/policy.ts";
import { missingMountPoints, mountPlan } from "../../lib/sandbox/mount_plan.ts";

function planOf(
  ...rules: [path: string, access: AccessRule["access"], found?: AccessRule["found"], ours?: true][]
): AccessPlan {
  return {
    fullRead: false,
    fullWrite: false,
    network: "restricted",
    rules: rules.map(([path, access, found = "directory", isProtection = false]) => ({
      path,
      access,
      found,
      isProtection,
    })),
    links: [],
    refusal: undefined,
  };
}

const PLAN = planOf(
  ["/", "read"],
  ["/w", "write"],
  ["/w/.agents", "read", "missing"],
  ["/w/.aws", "write", "missing"],
  ["/w/.codex", "read", "directory", true],
  ["/w/.git", "read", "missing", true],
  ["/w/blocked", "deny", "missing"],
  ["/w/read", "read"],
  ["/w/read/denied", "deny"],
  ["/w/read/write", "write"],
  ["/w/read/write/file", "read", "file"],
  ["/x/denied", "deny"],
);

Deno.test("What is narrower than the writable directory around it has to be there", () => {
  assert.deepEqual(neededMountPoints(PLAN), [
    { path: "/w/.agents", kind: "directory" },
    { path: "/w/.codex", kind: "directory" },
    { path: "/w/.git", kind: "directory" },
    { path: "/w/blocked", kind: "file" },
    { path: "/w/read", kind: "directory" },
    { path: "/w/read/write/file", kind: "file" },
  ]);
  assert.deepEqual(neededMountPoints({ ...PLAN, fullWrite: true }), []);
  assert.deepEqual(neededMountPoints(planOf(["/", "write"], ["/a", "read"])), [{ path: "/a", kind: "directory" }]);
});

Deno.test("Among them is everything that the mounts need, of the same kind", () => {
  const needed = neededMountPoints(PLAN);
  const missing = missingMountPoints(mountPlan(PLAN, { scratch: "writable" }));
  assert.ok(missing.length > 0);
  for (const { path, kind } of missing) {
    const expected = { path, kind: kind === "emptyDirectory" ? "directory" : "file" };
    assert.deepEqual(needed.find((point) => point.path === path), expected);
  }
});

Deno.test("Thousands of rules are not compared with each other to find what has to be there", () => {
  let looks = 0;
  const rules = planOf(
    ["/", "read"],
    ["/w", "write"],
    ...Array.from({ length: 2000 }, (_, at): Parameters<typeof planOf>[0] => [`/w/many/${at}.env`, "deny", "file"]),
  ).rules.map((rule): AccessRule => ({
    ...rule,
    get path() {
      looks++;
      return rule.path;
    },
  }));
  assert.equal(neededMountPoints({ ...PLAN, rules }).length, 2000);
  assert.ok(looks < 10 * rules.length, `${looks} looks at the path of a rule`);
});
