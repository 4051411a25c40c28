import assert from "node:assert/strict";
import { bubblewrapLaunch, type BubblewrapOptions } from "../../lib/sandbox/bubblewrap.ts";
import type { Mount } from "../../lib/sandbox/mount_plan.ts";

const OPTIONS: BubblewrapOptions = {
  version: { text: "0.8.0", disablesUserNamespaces: true, setsProgramName: false },
  network: "restricted",
  command: ["prog", "--bind", "ü"],
  env: [["A", "\xc3\xb6=1"], ["EMPTY", ""]],
  cwd: "/ws/sub",
  covers: { unreadable: "/own/unreadable", empty: "/own/empty" },
  optionsFd: 3,
  seccompFd: 4,
  firstBindFd: 5,
  newSession: true,
};

/** The options as bubblewrap reads them. */
function words(mounts: readonly Mount[], options: Partial<BubblewrapOptions> = {}): string[] {
  const text = new TextDecoder("latin1").decode(bubblewrapLaunch(mounts, { ...OPTIONS, ...options }).options);
  assert.ok(text.endsWith("\0"));
  return text.slice(0, -1).split("\0");
}

Deno.test("bubblewrapLaunch leaves only the program's own words where other users see them", () => {
  const { argv } = bubblewrapLaunch([], OPTIONS);
  assert.deepEqual(argv, ["bwrap", "--args", "3", "--", "prog", "--bind", "ü"]);
});

Deno.test("bubblewrapLaunch says each mount in bubblewrap's words, in order", () => {
  const mounts: Mount[] = [
    { kind: "emptyRoot", path: "/" },
    { kind: "link", path: "/bin", target: "usr/bin" },
    { kind: "devices", path: "/dev" },
    { kind: "deviceBind", path: "/dev/kvm" },
    { kind: "readOnlyBind", path: "/usr" },
    { kind: "bind", path: "/ws" },
    { kind: "emptyDirectory", path: "/ws/d", mode: 0o111, isMissing: false },
    { kind: "emptyFile", path: "/ws/f\xff", mode: 0, isMissing: false },
    { kind: "emptyFile", path: "/ws/new", mode: 0o600, isMissing: true },
    { kind: "processes", path: "/proc" },
    { kind: "freeze", path: "/ws/d" },
  ];
  const expected = [
    ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--disable-userns"],
    ...["--cap-drop", "ALL", "--die-with-parent", "--new-session"],
    ...[
      "--symlink",
      "usr/bin",
      "/bin",
      "--dev",
      "/dev",
      "--dev-bind",
      "/dev/kvm",
      "/dev/kvm",
      "--ro-bind-fd",
      "5",
      "/usr",
    ],
    ...["--bind-fd", "6", "/ws", "--perms", "0111", "--tmpfs", "/ws/d", "--ro-bind", "/own/unreadable", "/ws/f\xff"],
    ...["--ro-bind", "/own/empty", "/ws/new", "--proc", "/proc", "--remount-ro", "/ws/d", "--chdir", "/ws/sub"],
    ...["--setenv", "A", "\xc3\xb6=1", "--setenv", "EMPTY", "", "--seccomp", "4"],
  ];
  assert.deepEqual(words(mounts), expected);
});

Deno.test("bubblewrapLaunch uses no option that the version lacks, and only what is asked for", () => {
  const old = words([], {
    version: { text: "0.5.0", disablesUserNamespaces: false, setsProgramName: false },
  });
  assert.ok(!old.includes("--disable-userns"));
  assert.ok(old.includes("--unshare-net"));
  assert.ok(!words([], { network: "enabled" }).includes("--unshare-net"));
  assert.ok(!words([], { newSession: false }).includes("--new-session"));
});

Deno.test("bubblewrapLaunch gives a program another name where bubblewrap can, and refuses where it cannot", () => {
  const version = { text: "0.9.0", disablesUserNamespaces: true, setsProgramName: true };
  assert.ok(words([], { version, arg0: "-sh" }).join(" ").includes("--argv0 -sh"));
  assert.ok(!words([], { arg0: "prog" }).includes("--argv0"));
  assert.throws(() => words([], { arg0: "-sh" }), {
    kind: "sandboxUnavailable",
    message: "sandbox unavailable: bubblewrap 0.8.0 cannot give a program another name (0.9.0 can)",
  });
});

Deno.test("bubblewrapLaunch refuses more words than bubblewrap takes", () => {
  const many = (count: number): Mount[] =>
    Array.from({ length: count }, (_, at) => ({ kind: "deviceBind", path: `/dev/${at}` }));
  assert.doesNotThrow(() => words(many(2985)));
  assert.throws(() => words(many(3000)), {
    kind: "sandboxUnavailable",
    message: "sandbox unavailable: 3000 mounts and 3 arguments are more than bubblewrap takes",
  });
});

Deno.test("bubblewrapLaunch has what it binds opened beforehand", () => {
  const mounts: Mount[] = [
    { kind: "readOnlyBind", path: "/" },
    { kind: "bind", path: "/ws" },
    { kind: "deviceBind", path: "/dev/kvm" },
    { kind: "readOnlyBind", path: "/ws/sub" },
  ];
  const text = words(mounts, { firstBindFd: 7 }).join(" ");
  const expected = "--ro-bind / / --bind-fd 7 /ws --dev-bind /dev/kvm /dev/kvm --ro-bind-fd 8 /ws/sub --chdir";
  assert.ok(text.includes(expected), text);
  assert.deepEqual(bubblewrapLaunch(mounts, OPTIONS).binds, ["/ws", "/ws/sub"]);
  const many = Array.from({ length: 513 }, (_, at): Mount => ({ kind: "bind", path: `/ws/${at}` }));
  assert.throws(() => words(many), { kind: "sandboxUnavailable" });
});
