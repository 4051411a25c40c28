import assert from "node:assert/strict";
import { findFiles, type Match, ScanBudget } from "../../lib/sandbox/glob.ts";
import { PatternError } from "../../lib/sandbox/glob_pattern.ts";
import { CLOSED, FakeTree, linkTo, type Node } from "./fake_tree.ts";

const TREE: Node = {
  t: {
    "x.env": "",
    ".env": "",
    a: "",
    sub: { "y.env": "", deep: { "z.env": "", w: "" }, link: linkTo("deep") },
    "d.env": { f: "" },
    "l.env": linkTo("a"),
    "dead.env": linkTo("nothing"),
    "dl.env": linkTo("sub"),
    "[b]": { c: "" },
  },
  lt: linkTo("t"),
};

function drain(steps: Generator<void, Match[], void>): { steps: number; matches: Match[] } {
  for (let count = 0;; count++) {
    const step = steps.next();
    if (step.done) return { steps: count, matches: step.value };
  }
}

function found(pattern: string, maxDepth = Infinity): string {
  const { matches } = drain(findFiles(new FakeTree(TREE), pattern, maxDepth, new ScanBudget(1000, 100)));
  return matches.map(({ path }) => path.replace(/^\/t\//, "")).sort().join(" ");
}

const CASES: readonly (readonly [pattern: string, files: string, maxDepth?: number])[] = [
  ["/t/*.env", ".env a x.env"],
  ["/t/**/*.env", ".env a sub/deep/z.env sub/y.env x.env"],
  ["/t/**/*.env", ".env a x.env", 1],
  ["/t/**/*.env", ".env a sub/y.env x.env", 2],
  ["/t/*/*.env", "", 1],
  ["/t/*/*.env", "sub/y.env", 2],
  ["/t/sub/**", "sub/deep/w sub/deep/z.env sub/y.env"],
  ["/t/sub/**/", "sub/deep/w sub/deep/z.env sub/y.env"],
  ["/t/sub/**/*", "sub/deep/w sub/deep/z.env sub/y.env"],
  ["/t/**/deep", ""],
  ["/t/**/deep/**", "sub/deep/w sub/deep/z.env"],
  ["/t/**/link/*", ""],
  ["/t/sub/link/*", "sub/deep/w sub/deep/z.env"],
  ["/t/d*", ""],
  ["/t/d*/**", "d.env/f"],
  ["/t/su**/y.env", "sub/y.env"],
  ["/t/**.env", ".env a x.env"],
  ["/t/{sub,d.env}/*", "d.env/f sub/y.env"],
  ["/t/{x,y}.env", "x.env"],
  ["/t/{sub/deep,nope}/w", "sub/deep/w"],
  ["/t/\\[b]/*", "[b]/c"],
  ["/t/../t/./x*", "x.env"],
  ["/lt/x*", "x.env"],
  ["/nope/*", ""],
  ["/t/a/*", ""],
];

Deno.test("a pattern finds files", async (t) => {
  for (const [pattern, files, maxDepth] of CASES) {
    await t.step(`${pattern} ${maxDepth ?? ""}`, () => assert.equal(found(pattern, maxDepth), files));
  }
});

Deno.test("a match says how the pattern spells it and which links lead there", () => {
  const { matches } = drain(findFiles(new FakeTree(TREE), "/lt/x*", Infinity, new ScanBudget(1000, 100)));
  assert.deepEqual(matches, [{ spelled: "/lt/x.env", path: "/t/x.env", links: [{ path: "/lt", target: "t" }] }]);
});

Deno.test("a search looks only where something can be found", () => {
  const tree = new FakeTree(TREE);
  drain(findFiles(tree, "/t/sub/d*/w", Infinity, new ScanBudget(1000, 100)));
  assert.equal(tree.listed, 3 + 2);
});

Deno.test("a search has steps", () => {
  const wide = new FakeTree({ t: Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`f${index}`, ""])) });
  assert.equal(drain(findFiles(wide, "/t/x*", Infinity, new ScanBudget(1000, 1))).steps, Math.floor(1000 / 128));
});

const TOO_MUCH: readonly (readonly [what: string, names: number, files: number])[] = [
  ["there are too many files below its directory", 8, 100],
  ["too many files match", 100, 2],
];

Deno.test("a search that costs too much is given up", async (t) => {
  for (const [message, names, files] of TOO_MUCH) {
    await t.step(message, () => {
      const steps = findFiles(new FakeTree(TREE), "/t/*.env", Infinity, new ScanBudget(names, files));
      assert.throws(() => drain(steps), (error) => error instanceof PatternError && error.message === message);
    });
  }
});

Deno.test("a pattern has to have a wildcard, and a directory before it", () => {
  for (const pattern of ["/t/x.env", "/*", "/**/x", "/{t,*}/x", "/t/../*"]) {
    const steps = findFiles(new FakeTree(TREE), pattern, Infinity, new ScanBudget(100, 100));
    assert.throws(() => drain(steps), PatternError, pattern);
  }
});

Deno.test("a directory that cannot be listed is not taken for an empty one", () => {
  const tree = new FakeTree({ t: { sub: { inner: CLOSED } } });
  const steps = findFiles(tree, "/t/**/x", Infinity, new ScanBudget(100, 100));
  assert.throws(() => drain(steps), { name: "TreeError", message: "cannot list /t/sub" });
});
