import assert from "node:assert/strict";
import fc from "fast-check";
import { mayRead, mayWrite } from "../../lib/sandbox/access.ts";
import { fromText } from "../../lib/sandbox/byte_path.ts";
import { expandPolicy } from "../../lib/sandbox/expand_policy.ts";
import type { AccessPlan, AccessRule } from "../../lib/sandbox/policy.ts";
import { MACOS_RUNTIME } from "../../lib/sandbox/runtime_trees.ts";
import { seatbeltPolicy } from "../../lib/sandbox/seatbelt_policy.ts";
import { FakeTree, linkTo } from "./fake_tree.ts";
import { restricted } from "./policy_notation.ts";
import { pathsOf, randomPolicy, randomRoot } from "./random_policy.ts";
import { parse, SeatbeltInterpreter } from "./seatbelt_interpreter.ts";

const tree = new FakeTree({
  t: { ws: { ".git": { hooks: {} }, sub: { deep: { file: "" } }, "x.env": "" }, other: { file: "" } },
  bin: { sh: "" },
  private: { tmp: {}, etc: {} },
  tmp: linkTo("private/tmp"),
  etc: linkTo("private/etc"),
  dev: { null: "" },
  secret: { token: "" },
});

function planOf(line: string, network: AccessPlan["network"] = "restricted"): AccessPlan {
  return expandPolicy({ fileSystem: restricted(line), network }, tree, MACOS_RUNTIME);
}

/** What the policy of a plan lets programs do with a path: `rw`, `r-` or `--`. */
function accessOf(line: string, path: string, options?: Parameters<typeof seatbeltPolicy>[1]): string {
  const policy = new SeatbeltInterpreter(seatbeltPolicy(planOf(line), options));
  const reads = policy.decide("file-read-data", path) === "allow";
  const writes = policy.decide("file-write-data", path) === "allow";
  assert.equal(policy.decide("process-exec", path), reads ? "allow" : "deny");
  return `${reads ? "r" : "-"}${writes ? "w" : "-"}`;
}

Deno.test("a policy decides as its plan does, for any policy and any tree", () => {
  const seen = { read: 0, written: 0, neither: 0 };
  fc.assert(
    fc.property(randomRoot, randomPolicy, (top, fileSystem) => {
      const fake = new FakeTree(top);
      const plan = expandPolicy({ fileSystem, network: "restricted" }, fake, MACOS_RUNTIME);
      if (plan.refusal !== undefined) return;
      const policy = new SeatbeltInterpreter(seatbeltPolicy(plan));
      // The root itself can always be listed: nothing runs otherwise.
      for (const path of pathsOf(fake)) {
        const [reads, writes] = [mayRead(plan, path), mayWrite(plan, path)];
        assert.equal(policy.decide("file-read-data", path) === "allow", reads, `read ${path}`);
        assert.equal(policy.decide("process-exec", path) === "allow", reads, `execute ${path}`);
        assert.equal(policy.decide("file-write-create", path) === "allow", writes, `write ${path}`);
        seen[writes ? "written" : reads ? "read" : "neither"]++;
      }
    }),
    { numRuns: 700 },
  );
  for (const [what, count] of Object.entries(seen)) assert.ok(count > 20, `${what}: ${count}`);
});

Deno.test("no path ever stands in the text of a policy, whatever it is called", () => {
  const name = fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.constantFrom('"', "(", ")", '")) (allow default) ("', "\\", ";"),
  );
  const access = fc.constantFrom("read" as const, "write" as const, "deny" as const);
  const rule = fc.record({
    path: fc.array(name, { minLength: 1, maxLength: 3 }).map((names) =>
      fromText(`/odd-${names.map((name) => name.replaceAll("/", "")).join("/odd-")}`)
    ),
    access,
    found: fc.constantFrom("directory", "file", "missing"),
    isProtection: fc.boolean(),
  }) as fc.Arbitrary<AccessRule>;
  const rules = fc.uniqueArray(rule, { selector: ({ path }) => path, maxLength: 6 });
  fc.assert(
    fc.property(rules, fc.constantFrom("restricted", "enabled"), (rules, network) => {
      const links = rules.slice(0, 1).map(({ path }) => ({ path: `${path}-link`, target: path }));
      const plan = { fullRead: false, fullWrite: false, network, rules, links, refusal: undefined } as AccessPlan;
      const hidden = [{ path: "/odd-hidden", found: "file" }] as const;
      const { text, parameters } = seatbeltPolicy(plan, { hidden, networkCache: "/odd-cache" });
      assert.ok(!text.includes("odd-"), text);
      parse(text);
      for (const key of parameters.keys()) assert.match(key, /^P\d+$/);
      for (const key of text.matchAll(/\(param ([^)]*)\)/g)) assert.ok(parameters.has(JSON.parse(key[1]!)));
    }),
    { numRuns: 300 },
  );
});

Deno.test("a policy for everything says so in the words that the system has for it", () => {
  const text = (line: string, network: AccessPlan["network"] = "restricted") =>
    seatbeltPolicy(planOf(line, network)).text;
  assert.match(text("root:r"), /^\(allow file-read\* file-test-existence file-map-executable process-exec\)$/m);
  assert.doesNotMatch(text("root:r"), /\(allow file-write\*\)/);
  assert.match(text("root:w"), /^\(allow file-write\*\)$/m);
  assert.doesNotMatch(text("root:w"), /network/);
  assert.match(text("root:r", "enabled"), /^\(allow network-outbound\)$/m);
  assert.match(
    text("ws:r", "enabled"),
    /\(allow network-outbound\s+\(remote unix-socket \(subpath \(param "P\d+"\)\)\)\)/,
  );
});

Deno.test("a program is kept from what is narrowed in a writable directory, and from the directory's own renaming", () => {
  const line = "root:r ws:w ws/sub/deep:r ws/x.env:d";
  assert.equal(accessOf(line, "/t/ws/sub/new"), "rw");
  assert.equal(accessOf(line, "/t/ws/sub/deep/file"), "r-");
  assert.equal(accessOf(line, "/t/ws/x.env"), "--");
  assert.equal(accessOf(line, "/t/ws/.git/hooks/post-commit"), "r-");
  assert.equal(accessOf(line, "/t/ws/.codex"), "r-");
  const policy = new SeatbeltInterpreter(seatbeltPolicy(planOf(line)));
  const unlinks = (path: string) => policy.decide("file-write-unlink", path);
  assert.deepEqual(["/t/ws", "/t/ws/sub", "/t/ws/.git", "/t/ws/x.env"].map(unlinks), Array(4).fill("deny"));
  assert.deepEqual(["/t/ws/sub/new", "/t/ws/a"].map(unlinks), Array(2).fill("allow"));
});

Deno.test("names that are missing are kept from being made in any case", () => {
  const line = fromText("root:r ws:w ws/Straße.key:d");
  for (const path of ["/t/ws/.GIT", "/t/ws/.Codex/config.toml", "/t/ws/.AW\u017f", "/t/ws/.aGents/x"]) {
    assert.equal(accessOf(line, fromText(path)), "r-", path);
  }
  assert.equal(accessOf(line, "/t/ws/.gitignore"), "rw");
  assert.equal(accessOf(line, "/t/ws/xgit"), "rw");
  assert.equal(accessOf(line, fromText("/t/ws/STRASSE.KEY")), "--");
  assert.equal(accessOf(line, fromText("/t/ws/stra\u00dfe.Key")), "--");
});

Deno.test("what is hidden cannot be read or written, nor renamed away with its directory, whatever the plan grants", () => {
  const hidden = [{ path: "/secret/token", found: "file" }, { path: "/t/ws/sub", found: "directory" }] as const;
  for (const line of ["root:w", "root:r ws:w", "/secret/token:w ws:w ws/sub/deep:w"]) {
    assert.equal(accessOf(line, "/secret/token", { hidden }), "--", line);
    assert.equal(accessOf(line, "/t/ws/sub/deep/file", { hidden }), "--", line);
    assert.equal(accessOf(line, "/t/ws/new", { hidden }), "rw", line);
    const policy = new SeatbeltInterpreter(seatbeltPolicy(planOf(line), { hidden }));
    assert.equal(policy.decide("file-write-unlink", "/t/ws"), "deny");
  }
});

Deno.test("the way to what is granted can be gone, also through a denied directory and by the links that were named", () => {
  const policy = new SeatbeltInterpreter(seatbeltPolicy(planOf("/tmp:w /etc:r ws:d ws/sub/deep:w other/file:r")));
  const sees = (path: string) => policy.decide("file-read-metadata", path);
  const ways = ["/", "/t", "/t/ws", "/t/ws/sub", "/t/other", "/private", "/tmp", "/etc", "/private/tmp/x"];
  assert.deepEqual(ways.map(sees), ways.map(() => "allow"));
  const hidden = ["/t/ws/x.env", "/t/other/another", "/secret", "/private/other"];
  assert.deepEqual(hidden.map(sees), hidden.map(() => "deny"));
  const lists = ["/t", "/t/ws", "/t/other", "/private"].map((path) => policy.decide("file-read-data", path));
  assert.deepEqual(lists, Array(4).fill("deny"));
  const denied = new SeatbeltInterpreter(seatbeltPolicy(planOf("/dev:d ws:r")));
  assert.equal(denied.decide("file-write-data", "/dev/null"), "deny");
});

Deno.test("`minimal` is the system's own files, and the machine's directories for temporary ones", () => {
  assert.equal(accessOf("minimal:r", "/bin/sh"), "r-");
  assert.equal(accessOf("minimal:r", "/private/etc/hosts"), "r-");
  assert.equal(accessOf("minimal:r", "/private/tmp/x"), "rw");
  assert.equal(accessOf("minimal:r slashTmp:d", "/private/tmp/x"), "--");
  assert.equal(accessOf("minimal:r", "/t/other/file"), "--");
});

Deno.test("the cache of network services may be written by those who may use the network, unless it is denied", () => {
  const cache = { networkCache: "/t/other" };
  const decide = (line: string, network: AccessPlan["network"]) =>
    new SeatbeltInterpreter(seatbeltPolicy(planOf(line, network), cache)).decide("file-write-create", "/t/other/x");
  assert.deepEqual([decide("ws:w", "enabled"), decide("ws:w", "restricted"), decide("other:d", "enabled")], [
    ...["allow", "deny", "deny"],
  ]);
});

Deno.test("a refused plan has no policy", () => {
  const refused = { ...planOf("root:r"), refusal: "too odd" };
  assert.throws(() => seatbeltPolicy(refused), { message: "a refused plan has no policy: too odd" });
});
