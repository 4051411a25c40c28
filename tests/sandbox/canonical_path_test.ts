import assert from "node:assert/strict";
import { type CanonicalPath, resolve } from "../../lib/sandbox/canonical_path.ts";
import { CLOSED, FakeTree, linkTo } from "./fake_tree.ts";

const tree = new FakeTree({
  a: { b: { f: "" }, up: linkTo(".."), abs: linkTo("/a/b"), rel: linkTo("./b//"), dead: linkTo("x/../y/z") },
  closed: CLOSED,
  loop: linkTo("/loop"),
  chain: linkTo("a/abs"),
});

const CASES: readonly (readonly [path: string, result: string])[] = [
  ["/", "directory /"],
  ["/a/b", "directory /a/b"],
  ["/a/b/f", "file /a/b/f"],
  ["/a/up/a/b", "directory /a/b (/a/up)"],
  ["/a/up", "directory / (/a/up)"],
  ["/a/abs/f", "file /a/b/f (/a/abs)"],
  ["/a/rel/f", "file /a/b/f (/a/rel)"],
  ["/chain/f", "file /a/b/f (/chain /a/abs)"],
  ["/a/x/y", "missing /a/x/y at /a/x"],
  ["/a/x", "missing /a/x at /a/x"],
  ["/a/b/f/g/h", "missing /a/b/f/g/h at /a/b/f/g"],
  ["/a/dead/w", "missing /a/y/z/w at /a/x (/a/dead)"],
  ["/closed/x", "unknown /closed/x at /closed"],
];

Deno.test("a path is followed to where it leads", async (t) => {
  for (const [path, result] of CASES) {
    await t.step(path, () => assert.equal(shown(resolve(tree, path)), result));
  }
});

Deno.test("a circle of links leads nowhere that could be known", () => {
  const { found, reached, links } = resolve(tree, "/loop/x");
  assert.deepEqual([found, reached, links.length], ["unknown", "/loop", 40]);
});

function shown({ path, found, reached, links }: CanonicalPath): string {
  const at = reached === path && found !== "missing" ? "" : ` at ${reached}`;
  return `${found} ${path}${at}${links.length > 0 ? ` (${links.map(({ path }) => path).join(" ")})` : ""}`;
}
