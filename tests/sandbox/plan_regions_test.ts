import assert from "node:assert/strict";
import { regionsOf } from "../../lib/sandbox/plan_regions.ts";
import type { Access, AccessRule } from "../../lib/sandbox/policy.ts";

function rules(...lines: readonly string[]): AccessRule[] {
  return lines.map((line) => {
    const [path, access] = line.split(" ");
    return { path: path!, access: access as Access, found: "directory", isProtection: false };
  });
}

function shown(...args: Parameters<typeof regionsOf>): string[] {
  return regionsOf(...args).map(({ root, without }) => [root.path, ...without.map(({ path }) => `-${path}`)].join(" "));
}

Deno.test("a region ends at the first rule with another answer, and begins anew below it", () => {
  const nested = rules("/a write", "/a/b read", "/a/b/c write", "/a/b/c/d deny", "/a/b/c/d/e read", "/f read");
  assert.deepEqual(shown(nested, (access) => access === "write"), ["/a -/a/b", "/a/b/c -/a/b/c/d"]);
  assert.deepEqual(shown(nested, (access) => access !== "deny"), ["/a -/a/b/c/d", "/a/b/c/d/e", "/f"]);
  assert.deepEqual(shown(nested, (access) => access === "deny"), ["/a/b/c/d -/a/b/c/d/e"]);
});

Deno.test("names that sort between a directory and what is in it are beside it", () => {
  const beside = rules("/a write", "/a-b read", "/a/b read", "/a.c write");
  assert.deepEqual(shown(beside.reverse(), (access) => access === "write"), ["/a -/a/b", "/a.c"]);
});
