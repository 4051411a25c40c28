import assert from "node:assert/strict";
import { mayRead, mayWrite } from "../../lib/sandbox/access.ts";
import { resolve } from "../../lib/sandbox/canonical_path.ts";
import { expandPolicy } from "../../lib/sandbox/expand_policy.ts";
import type { AccessPlan, RestrictedFileSystem } from "../../lib/sandbox/policy.ts";
import { CLOSED, FakeTree, linkTo, type Node } from "./fake_tree.ts";
import { restricted } from "./policy_notation.ts";

const TREE: Node = {
  bin: linkTo("usr/bin"),
  etc: { passwd: "" },
  tmp: {},
  usr: { bin: { sh: "" } },
  t: {
    ws: {
      a: "",
      ".git": { config: "" },
      sub: { ".git": { config: "" }, deep: { c: "" } },
      "x.env": "",
      "d.env": { f: "" },
      "l.env": linkTo("a"),
    },
    ws2: { x: "" },
    out: { s: "", d: {} },
    links: {
      out: linkTo("../out"),
      sub: linkTo("../ws/sub"),
      nowhere: linkTo("../ws/nowhere"),
      loop: linkTo("loop"),
      wt: linkTo("../wtBack/real"),
    },
    inside: { out: linkTo("../out"), file: linkTo("own"), own: "", dead: linkTo("nothing") },
    back: { here: linkTo("."), own: "" },
    there: { here: linkTo("."), own: "", ".git": { config: "" } },
    lback: linkTo("back"),
    lws: linkTo("ws"),
    // Where repositories really are
    wt: { ".git": "gitdir: real\n", real: { c: "" } },
    wtFar: { ".git": "gitdir: ../out\n" },
    wtWhole: { ".git": "gitdir: /t/wtWhole/real", real: {} },
    wtSpaces: { ".git": "  gitdir:real  \n", real: {} },
    wtSecond: { ".git": "foo\ngitdir: real\n", real: {} },
    wtMissing: { ".git": "gitdir: nope\n" },
    wtLink: { ".git": "gitdir: l\n", l: linkTo("real"), real: {} },
    wtOut: { ".git": "gitdir: l", l: linkTo("../out") },
    wtDead: { ".git": "gitdir: l", l: linkTo("nope") },
    wtBack: { ".git": "gitdir: ../links/wt", real: {} },
    wtDots: { ".git": "gitdir: a/../real\n", a: {}, real: {} },
    wtItself: { ".git": "gitdir: .\n" },
    linkedGit: { ".git": linkTo("../out") },
    closed: { inner: CLOSED },
  },
};
const tree = new FakeTree(TREE);

function plan(line: string, more?: Partial<RestrictedFileSystem>): AccessPlan {
  return expandPolicy({ fileSystem: restricted(line, more), network: "restricted" }, tree);
}

/** `ws/a=rw`: what may be done with each path; `-`: nothing. */
function shown(plan: AccessPlan, paths: string): string {
  return paths.split(" ").map((word) => {
    const spelled = word.split("=")[0]!;
    const { path } = resolve(tree, spelled.startsWith("/") ? spelled : `/t/${spelled}`);
    return `${spelled}=${mayRead(plan, path) ? "r" : ""}${mayWrite(plan, path) ? "w" : ""}` || "-";
  }).map((word) => word.endsWith("=") ? `${word}-` : word).join(" ");
}

/** Entries → what follows; all seen of the reference too, except where it fails or is said to differ. */
const DECISIONS: readonly (readonly [entries: string, decisions: string])[] = [
  ["root:r ws:r ws:w", "ws/a=rw"],
  ["root:r ws:w ws:d", "ws/a=- out/s=r"],
  ["root:r ws:w ws/sub:r ws/sub/deep:w", "ws/a=rw ws/sub=r ws/sub/deep=rw ws/sub/deep/c=rw ws/sub/deep/.git=r"],
  ["root:r ws/sub:r ws:w", "ws/a=rw ws/sub=r"],
  ["minimal:r ws:w", "ws/a=rw out/s=- /usr/bin/sh=r /bin/sh=r /etc/passwd=r /tmp=-"],
  ["minimal:w ws:r", "/usr/bin/sh=r ws/a=r"],
  ["root:r minimal:d", "/usr/bin/sh=r"],
  ["root:w minimal:r out:r", "/usr/bin/sh=rw /bin/sh=rw out/s=r"],
  ["slashTmp:w", "/tmp=rw /tmp/new=rw /tmp/.git=r ws/a=-"],
  ["", "/=- ws/a=-"],
  // Denials, and what lies below them
  ["root:r ws:d ws/sub:r ws/sub/deep:w", "ws/a=- ws/sub/.git/config=- ws/sub/deep/c=rw"],
  ["minimal:r ws:r ws/sub:d ws/sub/deep:r", "ws/a=r ws/sub=- ws/sub/deep/c=-"],
  ["minimal:r ws:d ws/sub:r ws/sub/deep:r", "ws=- ws/sub=- ws/sub/deep/c=-"],
  ["root:r ws:d ws/sub:w ws/sub/deep:r", "ws/a=- ws/sub=rw ws/sub/deep/c=r ws/sub/.git/config=r"],
  ["root:d ws:r ws/sub:w", "ws/a=r ws/sub/deep/c=rw out/s=-"],
  ["root:r root:d ws:r", "out/s=- ws/a=r"],
  ["/:r out:d", "ws/a=r out/s=-"],
  // Protected names
  [
    "root:r ws:w",
    "ws/.git=r ws/.git/config=r ws/.codex=r ws/.codex/x=r ws/.agents=r ws/.aws=r ws/.ssh=rw ws/.vscode=rw",
  ],
  ["root:r ws:w", "ws/sub/.git=rw ws/sub/.git/config=rw"],
  ["root:r ws:w ws/sub:w", "ws/sub/.git=r ws/sub/.codex=r"],
  ["root:r ws:w ws/.git:w", "ws/.git/config=rw ws/.codex=r"],
  ["root:r ws:w proj=.git:w", "ws/.git/config=rw"],
  ["root:r ws:w ws/.git/config:w", "ws/.git=r ws/.git/config=rw ws/.git/hooks=r"],
  ["root:r ws:w ws/.git/hooks:w", "ws/.git=r ws/.git/hooks=r"],
  // The reference leaves `.git/.codex` free if `ws` stands first in the list, and protects it otherwise.
  ["root:r ws:w ws/.git:w", "ws/.git/config=rw ws/.git/.codex=r"],
  ["root:r ws/.git:w ws:w", "ws/.git/config=rw ws/.git/.codex=r"],
  ["root:r ws/.git:w", "ws/.git/config=rw ws/.git/.codex=r ws/a=r"],
  ["root:r ws:w ws/sub/.git:w", "ws/sub/.git/config=rw ws/sub/.git/.codex=r"],
  ["root:r ws:w ws/.codex:w", "ws/.codex=rw ws/.agents=r"],
  ["root:r ws:w ws/.codex/x/y:w", "ws/.codex=r"],
  ["root:r ws:w ws/.codex:r ws/.git:r ws/.agents/q:r", "ws/.codex=r ws/.git=r ws/.agents=r"],
  ["root:r ws:w ws/.codex:d ws/.git:d", "ws/.codex=- ws/.git/config=-"],
  ["root:w ws:w out:r", "ws/.git/config=r ws/.codex=r out/s=r /.git=rw"],
  ["root:w out:r", "ws/.git/config=rw ws/.codex=rw"],
  ["root:w ws:w", "ws/.git/config=rw ws/.codex=rw"],
  ["root:r lws:w lws/.git:w", "ws/.git/config=rw ws/.codex=r"],
  ["root:r wt:w", "wt/.git=r wt/real=r wt/real/c=r wt/new=rw"],
  ["root:r wt:w wt/.git:w", "wt/.git=rw wt/real/c=r"],
  ["root:r wt:w wt/real:w", "wt/.git=r wt/real/c=rw"],
  ["root:r wt:w wt/real/c:w", "wt/real=r wt/real/c=rw"],
  ["root:r wtFar:w out:w", "wtFar/.git=r out/s=rw"],
  ["root:r wtWhole:w", "wtWhole/real=r"],
  ["root:r wtSpaces:w", "wtSpaces/real=r"],
  ["root:r wtSecond:w", "wtSecond/.git=r wtSecond/real=rw"],
  ["root:r wtMissing:w", "wtMissing/.git=r wtMissing/nope=rw"],
  ["root:r wtDots:w", "wtDots/real=r wtDots/a=rw"],
  ["root:r wtDead:w", "wtDead/l=rw"],
  ["root:r wtBack:w", "wtBack/real=r"],
  ["root:r wtItself:w", "wtItself=rw wtItself/.git=r"],
  // Missing paths
  ["root:r missing:w", "missing=r ws/a=r"],
  ["minimal:r missing:w ws:r", "missing=-"],
  ["root:r ws:w ws/nope:r", "ws/nope=r ws/nope/x=r ws/other=rw"],
  ["root:r ws:w ws/nope:d", "ws/nope=- ws/other=rw"],
  ["root:r ws:w ws/nope/x:d", "ws/nope=r ws/nope/y=r ws/other=rw"],
  ["root:r ws:w ws/nope/y:w ws/nope:r", "ws/nope=r ws/nope/y=r"],
  ["root:r ws:w ws/nope:w ws/nope/y:r", "ws/nope=r"],
  ["root:r ws:w ws/nope:w ws/nope:r", "ws/nope=rw"],
  ["root:w out:r nope:r nope2/x:d", "nope=r nope2=r"],
  // Links: the place counts that they lead to. (The reference takes no notice of the second and the last two.)
  ["root:r lws:w", "ws/a=rw ws/.git=r lws/a=rw"],
  ["root:r lws:w ws:d", "ws/a=-"],
  ["root:r lws:w lws/sub:r", "ws/a=rw ws/sub=r"],
  ["root:r inside:w inside/out:w", "inside/own=rw out/s=rw out/.git=r"],
  ["root:r inside:w inside/out:r out:w", "inside/own=rw out/s=rw"],
  // What is named by a link that may be replaced is not meant, unless it is there.
  ["root:r back:w back/here/.git:w", "back/own=rw back/.git=r"],
  ["root:r there:w there/here/.git:w", "there/own=rw there/.git=rw"],
  ["root:r back:w lback/.git:w", "back/own=rw back/.git=rw"],
  ["root:r ws:r links/out:d", "ws/a=r out/s=- links/out/s=-"],
  ["root:r ws:r inside/dead:d", "inside/own=r out/s=r"],
  ["root:r ws:w links/sub:d", "ws/a=rw ws/sub/deep/c=-"],
  ["root:r ws:w links/sub:r", "ws/sub/deep/c=r"],
  ["root:r ws:w links/nowhere:r", "ws/nowhere=r ws/other=rw"],
  ["root:r links/loop:d links/loop:w", "ws/a=r"],
  // Project roots
  ["root:r proj:w", "ws/a=rw ws/.git=r ws2/x=r"],
  ["root:r proj=sub:w", "ws/a=r ws/sub=rw"],
  ["root:r proj=sub/:w", "ws/sub=rw"],
  ["root:r proj=sub//deep:w", "ws/sub=r ws/sub/deep=rw"],
  ["root:r proj=./sub:w", "ws/sub=r"],
  ["root:r proj=sub/../sub:w", "ws/sub=r"],
  ["root:r proj=../ws2:w", "ws2/x=r ws/a=r"],
  ["root:r proj=/etc:w", "/etc/passwd=r"],
  ["root:r proj:w proj=../out:d", "ws/a=- out/s=r"],
  ["root:r proj:w proj=../out:r", "ws/a=- out/s=r"],
  ["root:r proj:w proj=/etc:d", "ws/a=- /etc/passwd=r"],
  // What grants nothing
  ["tmpdir:w", "/tmp=-"],
  ["unknown:w", "ws/a=-"],
  ["glob=/t/ws/*:r glob=/t/ws/**:w", "ws/a=- ws/x.env=-"],
  // Patterns
  ["root:r ws:w glob=/t/ws/*.env:d", "ws/x.env=- ws/d.env=rw ws/d.env/f=rw ws/new.env=rw ws/a=-"],
  ["root:r ws:w glob=/t/ws/x*:d ws/x.env:w", "ws/x.env=- ws/a=rw"],
  ["root:r ws:w glob=ws/*:d", "ws/a=rw"],
  ["root:r ws:w glob=x.*:d", "ws/x.env=- ws/a=rw"],
  ["root:r ws:w glob=./x.*:d", "ws/x.env=-"],
  ["root:r ws:w glob=../out/*:d", "out/s=- ws/a=rw"],
  ["root:r ws:w glob=/t/ws/d*/**:d", "ws/d.env=rw ws/d.env/f=-"],
  ["root:r glob=/t/links/out/*:d", "out/s=-"],
  ["minimal:r ws:r glob=/t/ws/**/c:d", "ws/sub/deep/c=- ws/a=r"],
];

Deno.test("a policy decides for paths", async (t) => {
  for (const [entries, decisions] of DECISIONS) {
    await t.step(`${entries} → ${decisions}`, () => {
      const expanded = plan(entries);
      assert.equal(expanded.refusal, undefined);
      assert.equal(shown(expanded, decisions), decisions);
    });
  }
});

const REFUSALS: readonly (readonly [entries: string, refusal: string])[] = [
  [
    "root:r linkedGit:w",
    "cannot enforce sandbox read-only path /t/linkedGit/.git because it crosses writable symlink /t/linkedGit/.git",
  ],
  [
    "root:r inside:w inside/out:r",
    "cannot enforce sandbox read-only path /t/inside/out because it crosses writable symlink /t/inside/out",
  ],
  [
    "root:r inside:w inside/out/d:d",
    "cannot enforce sandbox deny-read path /t/inside/out/d because it crosses writable symlink /t/inside/out",
  ],
  [
    "root:r inside:w inside/file:d",
    "cannot enforce sandbox deny-read path /t/inside/file because it crosses writable symlink /t/inside/file",
  ],
  [
    "root:r inside:w inside/dead:r",
    "cannot enforce sandbox read-only path /t/inside/dead because it crosses writable symlink /t/inside/dead",
  ],
  [
    "root:r links:w links/loop:d",
    "cannot enforce sandbox deny-read path /t/links/loop because it crosses writable symlink /t/links/loop",
  ],
  [
    "root:w lws:r",
    "cannot enforce sandbox read-only path /t/lws because it crosses writable symlink /t/lws",
  ],
  [
    "root:r inside:w glob=/t/inside/out/*:d",
    "cannot enforce sandbox deny-read path /t/inside/out/s because it crosses writable symlink /t/inside/out",
  ],
  [
    "root:r wtLink:w",
    "cannot enforce sandbox read-only path /t/wtLink/l because it crosses writable symlink /t/wtLink/l",
  ],
  [
    "root:r wtOut:w",
    "cannot enforce sandbox read-only path /t/wtOut/l because it crosses writable symlink /t/wtOut/l",
  ],
  [
    "root:r glob=/t/links/loop/*:d",
    "unreadable glob `/t/links/loop/*` cannot be safely expanded; /t/links/loop cannot be looked at",
  ],
  ["root:r ws:w ws/a/x:d", "cannot enforce sandbox path /t/ws/a/x: /t/ws/a is not a directory"],
  ["root:r closed:w closed/inner/x:d", "cannot enforce sandbox path /t/closed/inner/x: it cannot be looked at"],
  ["root:r glob=/t/closed/*:d", "cannot list /t/closed"],
  [
    "root:r glob=/**/*.env:d",
    "unreadable glob `/**/*.env` cannot be safely expanded; use a pattern with a non-root directory prefix",
  ],
  [
    "root:r glob=/*/x:d",
    "unreadable glob `/*/x` cannot be safely expanded; use a pattern with a non-root directory prefix",
  ],
  ["root:r glob=/t/ws/sub:d", "unreadable glob `/t/ws/sub` cannot be safely expanded; a pattern needs a wildcard"],
  [
    "root:r glob=/t/ws/*{c:d",
    "unreadable glob `/t/ws/*{c` cannot be safely expanded; a `{` without a `}`; `[{]` stands for the character",
  ],
];

Deno.test("a policy that no sandbox can hold is refused", async (t) => {
  for (const [entries, refusal] of REFUSALS) {
    await t.step(entries, () => {
      const refused = plan(entries);
      assert.equal(refused.refusal, refusal);
      assert.deepEqual(refused.rules, []);
      assert.equal(mayWrite(refused, "/t/ws/a"), false);
    });
  }
});

Deno.test("a refused plan still lets everything be read where no sandbox is needed for it", () => {
  assert.equal(mayRead(plan("root:r linkedGit:w"), "/t/out/s"), true);
  assert.equal(mayRead(plan("minimal:r linkedGit:w"), "/etc/passwd"), false);
});

Deno.test("a relative pattern without a directory to take it from is refused", () => {
  assert.equal(plan("glob=*.env:d", { cwd: null }).refusal, "a relative pattern needs the sandbox's cwd");
});

Deno.test("a relative pattern is taken from a directory whatever that is called", () => {
  const odd = new FakeTree({ "a[b]*": { x: "", y: "" }, ab: { x: "" } });
  const fileSystem = restricted("root:r glob=x*:d", { cwd: "/a[b]*" });
  const expanded = expandPolicy({ fileSystem, network: "enabled" }, odd);
  assert.deepEqual(expanded.rules.map(({ path }) => path), ["/", "/a[b]*/x"]);
});

Deno.test("every workspace root counts, and a missing one does not", () => {
  const more = { workspaceRoots: ["/t/ws", "/t/ws2", "/t/nope"] };
  const expanded = plan("root:r proj:w proj=sub:r", more);
  assert.equal(shown(expanded, "ws/sub ws/a ws2/x nope"), "ws/sub=r ws/a=rw ws2/x=rw nope=r");
  // ws2 has no `sub`, and does not get one.
  assert.equal(shown(expanded, "ws2/sub"), "ws2/sub=r");
});

Deno.test("tmpdir is the directory of the program to be", () => {
  assert.equal(shown(plan("tmpdir:w", { tmpdir: "/t/out" }), "out/s ws/a"), "out/s=rw ws/a=-");
});

const FULL: readonly (readonly [entries: string, fullRead: boolean, fullWrite: boolean])[] = [
  ["root:r", true, false],
  ["root:w", true, true],
  ["root:w root:r", true, true],
  ["root:w ws:w unknown:w", true, true],
  ["root:w ws:r", true, false],
  ["root:w unknown:r", true, false],
  ["root:w missing:d", false, false],
  ["root:r glob=/t/nope/*:d", false, false],
  ["root:r root:d", false, false],
  ["root:r proj=../x:r", false, false],
  ["/:w", false, false],
  ["ws:w", false, false],
  ["", false, false],
];

Deno.test("only the special root, with nothing taken away, makes a sandbox unnecessary", async (t) => {
  for (const [entries, fullRead, fullWrite] of FULL) {
    await t.step(entries, () => {
      const expanded = plan(entries);
      assert.deepEqual([expanded.fullRead, expanded.fullWrite], [fullRead, fullWrite]);
    });
  }
  const free = expandPolicy({ fileSystem: "unrestricted", network: "enabled" }, tree);
  assert.deepEqual([free.fullRead, free.fullWrite, free.network], [true, true, "enabled"]);
  assert.equal(mayWrite(free, "/anything"), true);
});

Deno.test("a plan has what makes a difference, sorted, with what is there", () => {
  assert.deepEqual(plan("root:r ws:w ws/sub:w ws/nope/x:d ws/a:d out:r ws/.git:r").rules, [
    { path: "/", access: "read", found: "directory", isProtection: false },
    { path: "/t/ws", access: "write", found: "directory", isProtection: false },
    { path: "/t/ws/.agents", access: "read", found: "missing", isProtection: true },
    { path: "/t/ws/.aws", access: "read", found: "missing", isProtection: true },
    { path: "/t/ws/.codex", access: "read", found: "missing", isProtection: true },
    { path: "/t/ws/.git", access: "read", found: "directory", isProtection: true },
    { path: "/t/ws/a", access: "deny", found: "file", isProtection: false },
    { path: "/t/ws/nope", access: "read", found: "missing", isProtection: false },
    { path: "/t/ws/sub/.agents", access: "read", found: "missing", isProtection: true },
    { path: "/t/ws/sub/.aws", access: "read", found: "missing", isProtection: true },
    { path: "/t/ws/sub/.codex", access: "read", found: "missing", isProtection: true },
    { path: "/t/ws/sub/.git", access: "read", found: "directory", isProtection: true },
  ]);
});

Deno.test("a plan names the links that grants go through", () => {
  assert.deepEqual(plan("minimal:r lws/sub:w links/out:d links/nowhere:r").links, [
    { path: "/bin", target: "usr/bin" },
    { path: "/t/lws", target: "ws" },
  ]);
});

Deno.test("a writable file protects nothing", () => {
  assert.deepEqual(plan("root:r ws/a:w").rules.map(({ path }) => path), ["/", "/t/ws/a"]);
});

Deno.test("too many entries are refused", () => {
  const workspaceRoots = Array.from({ length: 4097 }, (_, index) => `/t/nope${index}`);
  assert.equal(plan("proj:w", { workspaceRoots }).refusal, "the sandbox has more than 4096 entries");
  assert.equal(plan("proj:w", { workspaceRoots: workspaceRoots.slice(1) }).refusal, undefined);
});

Deno.test("more rules than can be mounted are refused", () => {
  const names = Array.from({ length: 1200 }, (_, index) => `d${index}`);
  const wide = new FakeTree(Object.fromEntries(names.map((name) => [name, {}])));
  const entries = names.map((name) => ({ path: { kind: "path", path: `/${name}` }, access: "write" }) as const);
  const fileSystem = { ...restricted(""), entries };
  const { refusal } = expandPolicy({ fileSystem, network: "restricted" }, wide);
  assert.equal(refusal, "the sandbox has more than 5000 paths to watch");
});
