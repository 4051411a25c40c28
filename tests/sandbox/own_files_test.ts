import assert from "node:assert/strict";
import { keepFromWriting, ownFiles } from "../../lib/sandbox/own_files.ts";
import type { AccessPlan, AccessRule } from "../../lib/sandbox/policy.ts";
import { FakeTree, linkTo } from "./fake_tree.ts";

const tree = new FakeTree({
  app: { lib: { sandbox: { "any.ts": "" } } },
  usr: { bin: { deno: "" } },
  mac: { Library: { Caches: { deno: {} } } },
  home: { me: { ".cache": { deno: {} }, deno: linkTo("/usr/bin/deno") } },
  cache: { deno: {} },
});
const MODULE = "file:///app/lib/sandbox/any.ts";

function host(isCompiled: boolean, variables: Record<string, string> = {}, program = "/usr/bin/deno") {
  return { isCompiled, program, variable: (name: string) => variables[name] };
}

Deno.test("ownFiles are the executable, and where it is deno our sources and its cache", () => {
  const program = { path: "/usr/bin/deno", found: "file" };
  const sources = { path: "/app/lib", found: "directory" };
  const cache = (path: string) => ({ path, found: "directory" });
  assert.deepEqual(ownFiles(host(true, {}, "/home/me/deno"), MODULE, tree), [program]);
  const under = (variables: Record<string, string>) => ownFiles(host(false, variables), MODULE, tree);
  assert.deepEqual(under({ HOME: "/home/me" }), [program, cache("/home/me/.cache/deno"), sources]);
  assert.deepEqual(under({ HOME: "/mac" }), [program, cache("/mac/Library/Caches/deno"), sources]);
  assert.deepEqual(under({ HOME: "/home/me", XDG_CACHE_HOME: "/cache" }), [program, cache("/cache/deno"), sources]);
  assert.deepEqual(under({ XDG_CACHE_HOME: "/home", DENO_DIR: "/cache/deno" }), [
    program,
    cache("/cache/deno"),
    sources,
  ]);
  assert.deepEqual(under({ HOME: "/nobody" }), [program, sources]);
  assert.deepEqual(ownFiles(host(false), MODULE, tree, "/home/me"), [program, cache("/home/me/.cache/deno"), sources]);
  assert.deepEqual(
    ownFiles(host(false, { HOME: "/mac" }), MODULE, tree, "/home/me")[1],
    cache("/mac/Library/Caches/deno"),
  );
  assert.deepEqual(ownFiles(host(false), "https://example.com/lib/sandbox/any.ts", tree), [program]);
});

const rule = (path: string, access: AccessRule["access"]): AccessRule => (
  { path, access, found: "directory", isProtection: false }
);
const planOf = (...rules: AccessRule[]): AccessPlan => (
  { fullRead: false, fullWrite: false, network: "restricted", rules, links: [], refusal: undefined }
);
const OWN = [{ path: "/app/lib", found: "directory" }] as const;

Deno.test("keepFromWriting takes the right to write to own files, and nothing else", () => {
  for (
    const [before, after] of [
      [[rule("/app", "write")], [rule("/app", "write"), rule("/app/lib", "read")]],
      [[rule("/app/lib", "write")], [rule("/app/lib", "read")]],
      [[rule("/app", "read"), rule("/app/lib/sandbox", "write")], [
        rule("/app", "read"),
        rule("/app/lib/sandbox", "read"),
      ]],
      [[rule("/app", "write"), rule("/app/lib", "deny")], [rule("/app", "write"), rule("/app/lib", "deny")]],
      [[rule("/app", "read"), rule("/app/library", "write")], [rule("/app", "read"), rule("/app/library", "write")]],
    ] as const
  ) assert.deepEqual(keepFromWriting(planOf(...before), OWN), planOf(...after));
  const all: AccessPlan = { ...planOf(rule("/", "write")), fullRead: true, fullWrite: true };
  assert.equal(keepFromWriting(all, OWN), all);
});
