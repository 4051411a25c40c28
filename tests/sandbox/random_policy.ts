/** Small file systems and policies about them, at random. */

import fc from "fast-check";
import type { PolicyEntry, RestrictedFileSystem } from "../../lib/sandbox/policy.ts";
import { type FakeTree, linkTo, type Node } from "./fake_tree.ts";

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
export const randomRoot = fc.record({ a: node, b: node, c: node }, { requiredKeys: [] }).map((top) => ({
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
export const randomPolicy: fc.Arbitrary<RestrictedFileSystem> = fc.record({
  entries: fc.array(entry, { maxLength: 7 }),
  globScanMaxDepth: fc.constantFrom(null, null, 1, 2),
  cwd: fc.constant("/a"),
  workspaceRoots: fc.subarray(["/a", "/b", "/c/a"]),
  tmpdir: fc.constantFrom(null, "/b/a"),
});

/** Every canonical path of a tree, and beside each what is not there. */
export function pathsOf(tree: FakeTree, directory = ""): string[] {
  const missing = [...NAMES, ".aws"].map((name) => `${directory}/${name}`).filter((path) =>
    tree.kindOf(path) === "missing"
  );
  const below = [...tree.list(directory === "" ? "/" : directory)].flatMap(({ name, kind }) => {
    const path = `${directory}/${name}`;
    return kind === "directory" ? [path, ...pathsOf(tree, path)] : [path];
  });
  return [...missing, ...missing.map((path) => `${path}/a`), ...below];
}
