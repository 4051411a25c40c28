import assert from "node:assert/strict";
import fc from "fast-check";
import { isAtOrBelow, parent } from "../../lib/sandbox/byte_path.ts";
import { missingMountPoints, type Mount, mountPlan, type ViewOptions } from "../../lib/sandbox/mount_plan.ts";
import type { Access, AccessPlan, AccessRule } from "../../lib/sandbox/policy.ts";
import { viewContains } from "../../lib/sandbox/view_contains.ts";

function rule(
  path: string,
  access: Access,
  found: AccessRule["found"] = "directory",
  isProtection = false,
): AccessRule {
  return { path, access, found, isProtection };
}

function plan(rules: readonly AccessRule[], more: Partial<AccessPlan> = {}): AccessPlan {
  const given = { fullRead: false, fullWrite: false, network: "restricted", links: [], refusal: undefined } as const;
  return { ...given, rules, ...more };
}

/** Each mount in short, without /dev and /proc, which every view has. */
function view(
  rules: readonly AccessRule[],
  options: Partial<ViewOptions> = {},
  more: Partial<AccessPlan> = {},
): string[] {
  return mountPlan(plan(rules, more), { scratch: "writable", ...options }).map(inShort)
    .filter((text) => text !== "devices /dev" && text !== "processes /proc");
}

function inShort(mount: Mount): string {
  const { kind, path } = mount;
  if ("target" in mount) return `${kind} ${path} ${mount.target}`;
  return "mode" in mount
    ? `${kind} ${path} ${mount.mode.toString(8)}${mount.isMissing ? " missing" : ""}`
    : `${kind} ${path}`;
}

Deno.test("where everything may be read the whole tree is there, read-only", () => {
  assert.deepEqual(view([rule("/", "read")]), ["readOnlyBind /"]);
  assert.deepEqual(view([], {}, { fullRead: true }), ["readOnlyBind /"]);
  assert.deepEqual(view([rule("/", "write"), rule("/usr", "read")]), ["bind /", "readOnlyBind /usr"]);
});

Deno.test("where nothing is said of the root the view is empty but for what is granted", () => {
  const links = [{ path: "/bin", target: "usr/bin" }, { path: "/usr/lnk", target: "x" }];
  const rules = [rule("/home/u/ws", "write"), rule("/usr", "read"), rule("/usr/lib", "read")];
  const expected = ["emptyRoot /", "link /bin usr/bin", "bind /home/u/ws", "readOnlyBind /usr"];
  assert.deepEqual(view(rules, {}, { links }), expected);
  assert.deepEqual(view([rule("/", "deny"), ...rules], {}, { links }), expected);
});

Deno.test("every view has a /dev and, after all that could cover it, a /proc of its own", () => {
  for (
    const rules of [[], [rule("/", "read")], [rule("/dev", "write"), rule("/proc", "write"), rule("/proc/sys", "read")]]
  ) {
    const mounts = mountPlan(plan(rules), { scratch: "writable" }).map(inShort);
    assert.deepEqual(mounts.slice(1), ["devices /dev", "processes /proc"]);
  }
});

Deno.test("granted devices and shared memory are the machine's, denied ones are covered", () => {
  const rules = [
    rule("/", "read"),
    rule("/dev/kvm", "write", "file"),
    rule("/dev/shm/x", "read"),
    rule("/dev/sda", "read", "file"),
  ];
  assert.deepEqual(view(rules), ["readOnlyBind /", "deviceBind /dev/kvm", "readOnlyBind /dev/shm/x"]);
  const denied = [rule("/", "read"), rule("/dev/null", "deny", "file"), rule("/dev/sda", "deny", "file")];
  assert.deepEqual(view(denied), ["readOnlyBind /", "emptyFile /dev/null 0"]);
});

Deno.test("denied parts of /proc are covered after it is mounted; the machine's processes are not there anyway", () => {
  const rules = [rule("/", "read"), rule("/proc/17/maps", "deny", "file"), rule("/proc/kallsyms", "deny", "file")];
  const mounts = mountPlan(plan(rules), { scratch: "writable" }).map(inShort);
  assert.deepEqual(mounts.slice(2), ["processes /proc", "emptyFile /proc/kallsyms 0"]);
});

Deno.test("writable, read-only and writable again lie on top of each other", () => {
  const rules = [rule("/", "read"), rule("/ws", "write"), rule("/ws/sub", "read"), rule("/ws/sub/deep", "write")];
  assert.deepEqual(view(rules), ["readOnlyBind /", "bind /ws", "readOnlyBind /ws/sub", "bind /ws/sub/deep"]);
});

Deno.test("names that sort between a directory and what is in it change nothing", () => {
  const rules = [
    rule("/", "read"),
    rule("/w", "write"),
    rule("/w-x", "write"),
    rule("/w/a", "read"),
    rule("/w/a/b", "write"),
  ];
  assert.deepEqual(view(rules), ["readOnlyBind /", "bind /w", "readOnlyBind /w/a", "bind /w/a/b", "bind /w-x"]);
});

Deno.test("directories on the way to what is narrowed are mounts, so that they cannot be renamed", () => {
  const rules = [rule("/", "read"), rule("/w", "write"), rule("/w/a/b/c", "read"), rule("/w/a/b/d", "deny", "file")];
  const expected = [
    "readOnlyBind /",
    "bind /w",
    "bind /w/a",
    "bind /w/a/b",
    "readOnlyBind /w/a/b/c",
    "emptyFile /w/a/b/d 0",
  ];
  assert.deepEqual(view(rules), expected);
});

Deno.test("denied directories and files are covered, and what they contain is not looked at", () => {
  const rules = [rule("/", "read"), rule("/d", "deny"), rule("/d/r", "read"), rule("/f", "deny", "file")];
  assert.deepEqual(view(rules), ["readOnlyBind /", "emptyDirectory /d 0", "emptyFile /f 0", "freeze /d"]);
});

Deno.test("a way leads through a denied directory to what may be written below it", () => {
  const rules = [rule("/ws", "write"), rule("/ws/d", "deny"), rule("/ws/d/r", "read"), rule("/ws/d/r/w", "write")];
  assert.deepEqual(view(rules), [
    "emptyRoot /",
    "bind /ws",
    "emptyDirectory /ws/d 111",
    "bind /ws/d/r/w",
    "freeze /ws/d",
  ]);
});

Deno.test("a denied directory is seen to be denied also where nothing else is seen", () => {
  assert.deepEqual(view([rule("/d", "deny")]), ["emptyRoot /", "emptyDirectory /d 0", "freeze /d"]);
});

Deno.test("places of missing names are held, where they could be made, and are reported", () => {
  const rules = [
    rule("/r/.git", "read", "missing"),
    rule("/ws", "write"),
    rule("/ws/.aws", "read", "missing"),
    rule("/ws/.git", "read", "missing", true),
    rule("/ws/a/new", "deny", "missing"),
    rule("/ws/gone", "write", "missing"),
  ];
  const mounts = mountPlan(plan(rules), { scratch: "writable" });
  assert.deepEqual(missingMountPoints(mounts).map(inShort), [
    "emptyDirectory /ws/.aws 555 missing",
    "emptyDirectory /ws/.git 555 missing",
    "emptyFile /ws/a/new 600 missing",
  ]);
  assert.ok(mounts.map(inShort).includes("bind /ws/a"));
  assert.deepEqual(missingMountPoints(mountPlan(plan([rule("/", "read")]), { scratch: "writable" })), []);
});

Deno.test("a file that may be written is no mount where it is writable already, so that it can be replaced", () => {
  const rules = [rule("/", "read"), rule("/f", "write", "file"), rule("/ws", "write"), rule("/ws/f", "write", "file")];
  assert.deepEqual(view(rules), ["readOnlyBind /", "bind /f", "bind /ws"]);
});

Deno.test("what is hidden is covered whatever a plan says, and not betrayed where nothing is seen", () => {
  const hidden = [{ path: "/tmp/own", found: "directory" }, { path: "/etc/token", found: "file" }] as const;
  const rules = [
    rule("/", "read"),
    rule("/etc/token", "write", "file"),
    rule("/tmp", "write"),
    rule("/tmp/own/x", "write"),
  ];
  const expected = [
    "readOnlyBind /",
    "emptyFile /etc/token 0",
    "bind /tmp",
    "emptyDirectory /tmp/own 0",
    "freeze /tmp/own",
  ];
  assert.deepEqual(view(rules, { hidden }), expected);
  assert.deepEqual(view([rule("/usr", "read")], { hidden }), ["emptyRoot /", "readOnlyBind /usr"]);
});

Deno.test("what exists only inside can be made read-only", () => {
  assert.deepEqual(view([], { scratch: "readOnly" }), ["emptyRoot /", "freeze /dev", "freeze /"]);
  assert.deepEqual(view([rule("/", "read")], { scratch: "readOnly" }), ["readOnlyBind /", "freeze /dev"]);
});

Deno.test("there is no view of a refused plan, nor of one that lets everything be written", () => {
  assert.throws(() => view([], {}, { refusal: "a link" }), /refused plan.*a link/);
  assert.throws(() => view([], {}, { fullWrite: true }), /needs no view/);
});

/** What section 3.1 says, literally; to deny the root is to say nothing of it, and no `read` counts below a `deny`. */
function meaning(rules: readonly AccessRule[], path: string): Access | "nothing" {
  const above = rules.filter((one) => isAtOrBelow(path, one.path) && (one.path !== "/" || one.access !== "deny"))
    .sort((one, other) => other.path.length - one.path.length);
  const isBelowDenial = above.find((one) => one.access !== "read")?.access === "deny";
  return isBelowDenial ? "deny" : above[0]?.access ?? "nothing";
}

/** What the topmost mount at a path is. */
function seen(mounts: readonly Mount[], path: string): Access | "nothing" {
  const top = mounts.findLast((mount) => mount.kind !== "freeze" && isAtOrBelow(path, mount.path));
  switch (top?.kind) {
    case "bind":
      return "write";
    case "readOnlyBind":
      return "read";
    case "emptyDirectory":
    case "emptyFile":
      return "deny";
    default:
      return "nothing";
  }
}

const path = fc.array(fc.constantFrom("a", "b", "a-", "c"), { maxLength: 4 }).map((names) => `/${names.join("/")}`);
const access = fc.constantFrom<Access>("read", "write", "deny");
const someRules = fc.uniqueArray(fc.record({ path, access }), { selector: (one) => one.path, maxLength: 9 })
  .map((rules) => rules.map((one) => rule(one.path, one.access)).sort((one, other) => one.path < other.path ? -1 : 1));

Deno.test("property: a view shows and protects each path as the most specific rule says", () => {
  fc.assert(
    fc.property(someRules, path, (rules, asked) => {
      assert.equal(seen(mountPlan(plan(rules), { scratch: "readOnly" }), asked), meaning(rules, asked));
    }),
    { numRuns: 2000 },
  );
});

Deno.test("property: whatever is narrowed below a writable root cannot be moved away with its directory", () => {
  fc.assert(
    fc.property(someRules, (rules) => {
      const mounts = mountPlan(plan(rules), { scratch: "readOnly" });
      for (const narrowed of rules.filter((one) => seen(mounts, one.path) !== "write")) {
        for (let at = parent(narrowed.path); at !== "/"; at = parent(at)) {
          if (seen(mounts, at) === "write") {
            assert.ok(mounts.some((mount) => mount.path === at), `${at} can be renamed`);
          }
        }
      }
    }),
    { numRuns: 1000 },
  );
});

Deno.test("viewContains knows which directories can be entered", () => {
  const rules = [
    rule("/usr", "read"),
    rule("/w/x/ws", "write"),
    rule("/w/x/ws/d", "deny"),
    rule("/w/x/ws/e", "deny"),
    rule("/w/x/ws/e/y/z", "write"),
  ];
  const mounts = mountPlan(plan(rules), { scratch: "writable" });
  const inside = [
    "/",
    "/w",
    "/w/x",
    "/w/x/ws",
    "/w/x/ws/any",
    "/usr/bin",
    "/w/x/ws/e",
    "/w/x/ws/e/y",
    "/w/x/ws/e/y/z/q",
    "/dev",
    "/proc",
  ];
  const outside = ["/etc", "/w/y", "/w/x/ws/d", "/w/x/ws/d/a", "/w/x/ws/e/other", "/proc/1", "/dev/dri"];
  for (const directory of inside) assert.ok(viewContains(mounts, directory), directory);
  for (const directory of outside) assert.ok(!viewContains(mounts, directory), directory);
});
