import assert from "node:assert/strict";
import { ExecError } from "../../lib/errors.ts";
import { cString } from "../../lib/linux/cstring.ts";
import * as libc from "../../lib/linux/libc.ts";
import { ownChildren } from "../../lib/linux/own_children.ts";
import { posixSpawn } from "../../lib/linux/posix_spawn.ts";
import { cStrings } from "../../lib/linux/sandbox_calls.ts";
import type { BackEndName } from "../../lib/sandbox/back_end_choice.ts";
import { fromText, toBytes } from "../../lib/sandbox/byte_path.ts";
import { runToEnd } from "../../lib/sandbox/run_to_end.ts";
import type { PreparedLaunch } from "../../lib/sandbox/sandbox.ts";
import { backEndMissing } from "./support/back_ends.ts";
import { installed } from "./support/bubblewrap_run.ts";
import { entry, never, OwnSandbox, READ_ALL, restricted } from "./support/own_sandbox.ts";
import { SELF } from "./support/user.ts";

const PROTECTED = [".agents", ".aws", ".codex", ".git"];
const missing = {
  bubblewrap: await backEndMissing("bubblewrap", SELF),
  unshare: await backEndMissing("unshare", SELF),
  landlock: await backEndMissing("landlock", SELF),
};

/** Once for each back end that can be tried, and counted as ignored for the others. */
function withEach(
  backEnds: readonly BackEndName[],
  sentence: string,
  test: (choice: BackEndName) => Promise<void>,
): void {
  for (const backEnd of backEnds) {
    const ignore = missing[backEnd] !== undefined;
    Deno.test({ name: `the sandbox with ${backEnd} ${sentence}`, ignore, fn: () => test(backEnd) });
  }
}

const VIEWS = ["bubblewrap", "unshare"] as const;

withEach(VIEWS, "gives a program its environment and streams, and nothing of ours", async (choice) => {
  using own = await OwnSandbox.create(choice);
  const argv = ["/bin/sh", "-c", "env; echo; ls /proc/self/fd; pwd"];
  const { stdout, stderr, exitCode } = await own.run(await own.enforcement(), { argv, env: ["B=1=2", "PATH=/bin"] });
  assert.deepEqual([stderr, exitCode], ["", 0]);
  const [env = "", rest] = stdout.split("\n\n");
  // PWD is the shell's own, and bubblewrap's.
  assert.deepEqual(env.split("\n").sort(), ["B=1=2", "PATH=/bin", `PWD=${own.workspace}`]);
  // The last one is that of the directory itself.
  assert.equal(rest, `0\n1\n2\n3\n${own.workspace}\n`);
});

withEach(VIEWS, "keeps what it covers until everything inside has ended", async (choice) => {
  using own = await OwnSandbox.create(choice);
  const enforcement = await own.enforcement();
  const { stdout } = await own.run(enforcement, "ls -A; touch made .git/x 2>/dev/null; sleep 60 & echo $?");
  assert.equal(stdout, `${PROTECTED.join("\n")}\n0\n`);
  await until(() => own.names().length === 1);
  assert.deepEqual(own.names(), ["made"]);
  assert.deepEqual(own.warnings, []);
});

withEach(VIEWS, "keeps what it covers until those inside have been killed with the one outside", async (choice) => {
  using own = await OwnSandbox.create(choice);
  const { pid, launch } = start(await own.prepare(await own.enforcement(), "echo >begun; exec sleep 60"));
  await until(() => own.names().includes("begun"));
  assert.deepEqual(own.names(), [...PROTECTED, "begun"]);
  libc.symbols.kill(pid, 9);
  libc.symbols.waitpid(pid, new Uint8Array(4), 0);
  launch.ended();
  await until(() => own.names().length === 1);
  assert.deepEqual(own.names(), ["begun"]);
});

withEach(VIEWS, "leaves nothing behind when it ends while programs are being killed", async (choice) => {
  using own = await OwnSandbox.create(choice);
  const { pid, launch } = start(await own.prepare(await own.enforcement(), "echo >begun; exec sleep 60"));
  await until(() => own.names().includes("begun"));
  libc.symbols.kill(-pid, 9);
  own.sandbox[Symbol.dispose]();
  assert.deepEqual(own.names(), ["begun"]);
  libc.symbols.waitpid(pid, new Uint8Array(4), 0);
  launch.ended();
  assert.deepEqual([...Deno.readDirSync(`${own.shared}/mount-points`)].map(({ name }) => name), ["lock"]);
  assert.deepEqual(own.warnings, []);
});

withEach(VIEWS, "leaves nothing behind of a start that is cancelled, or was none", async (choice) => {
  using own = await OwnSandbox.create(choice);
  const enforcement = await own.enforcement();
  await own.run(enforcement, "true"); // what is open once and for all is open now
  await until(() => own.names().length === 0);
  const descriptors = openDescriptors();
  const cancelled = AbortSignal.abort(new Error("cancelled"));
  await assert.rejects(own.prepare(enforcement, "true", cancelled), /^Error: cancelled$/);
  assert.deepEqual(own.names(), []);
  {
    using launch = await own.prepare(enforcement, "true");
    assert.deepEqual(own.names(), PROTECTED);
    launch.ended();
    launch.ended();
  }
  await until(() => own.names().length === 0);
  assert.deepEqual(openDescriptors().filter((name) => !descriptors.includes(name)), []);
});

withEach(["unshare", "landlock"], "has a launcher ready for the next program, and none in the end", async (choice) => {
  using own = await OwnSandbox.create(choice);
  const enforcement = await own.enforcementOf({ fileSystem: restricted([READ_ALL]), network: "restricted" });
  const first = await own.prepare(enforcement, "true");
  assert.equal(first.handOver, undefined);
  await runToEnd(first, never);
  await until(() => ownChildren.size === 1);
  const [waiting] = ownChildren;
  // A terminal has to control its program from the beginning.
  const shell = { file: "/bin/sh", argv: ["/bin/sh"], env: [], cwd: fromText(own.root) };
  using onTerminal = await enforcement.prepare({ ...shell, onTerminal: true }, never);
  assert.equal(onTerminal.handOver, undefined);
  onTerminal.ended();
  const second = await own.prepare(enforcement, 'cat; echo "$A" >&2; ls /proc/self/fd; echo >new; exit 7');
  const { stdout, stderr, exitCode } = await runToEnd(second, never);
  assert.deepEqual([stdout, exitCode], ["0\n1\n2\n3\n", 7]);
  assert.match(stderr, /^\n.*new: /);
  await until(() => ownChildren.size === 1 && !ownChildren.has(waiting!));
  {
    using unused = await own.prepare(enforcement, "true");
    assert.notEqual(unused.handOver, undefined);
    unused.ended();
  }
  assert.equal(ownChildren.size, 0);
});

withEach(
  ["bubblewrap", "unshare", "landlock"],
  "says like the reference that a program cannot be run",
  async (choice) => {
    using own = await OwnSandbox.create(choice);
    const script = `${own.root}/script`;
    Deno.writeTextFileSync(script, "#!/no/interpreter\n", { mode: 0o755 });
    const text = `${own.root}/text`;
    Deno.writeTextFileSync(text, "no program", { mode: 0o755 });
    const enforcement = await own.enforcementOf({ fileSystem: restricted([READ_ALL]), network: "restricted" });
    for (
      const [file, reason] of [
        ["/nonexistent/bin", "No such file or directory (os error 2)"],
        ["no-such-name", "No such file or directory (os error 2)"],
        ["/etc/passwd", "Permission denied (os error 13)"],
        ["/etc", "Permission denied (os error 13)"],
        ["/etc/passwd/below", "Not a directory (os error 20)"],
        [script, "No such file or directory (os error 2)"],
        [text, "Exec format error (os error 8)"],
      ] as const
    ) {
      const { exitCode, stdout, stderr } = await own.run(enforcement, { file });
      assert.deepEqual([exitCode, stdout, stderr], [101, "", `sandbox: Failed to execvp ${file}: ${reason}\n`]);
      if (choice === "bubblewrap" && installed?.setsProgramName === false) continue;
      const renamed = await own.run(enforcement, { file, argv: ["another"] });
      assert.deepEqual([renamed.exitCode, renamed.stderr], [1, `failed to exec "${file}": ${reason}\n`]);
    }
  },
);

Deno.test({
  name: "the sandbox gives a program another name, also where bubblewrap cannot",
  ignore: missing.bubblewrap !== undefined || missing.unshare !== undefined,
  fn: async () => {
    using own = await OwnSandbox.create("auto");
    const program = { file: "/bin/sh", argv: ["another", "-c", "echo $0; ls -A"] };
    const { stdout } = await own.run(await own.enforcement(), program);
    assert.equal(stdout, `another\n${PROTECTED.join("\n")}\n`);
    const nameless = await own.run(await own.enforcement(), { argv: ["/bin/sh", "-c", "echo $0"], env: ["=x", "A=1"] });
    assert.equal(nameless.stdout, "/bin/sh\n");
  },
});

Deno.test({
  name: "the sandbox refuses what the chosen back end cannot do",
  ignore: missing.bubblewrap !== undefined || installed?.setsProgramName !== false,
  fn: async () => {
    using own = await OwnSandbox.create("bubblewrap");
    await assert.rejects(
      own.run(await own.enforcement(), { file: "/bin/sh", argv: ["another"] }),
      /^ExecError: sandbox unavailable: bubblewrap \S+ cannot give a program another name .*; unshare: it is not/,
    );
    assert.deepEqual(own.names(), []);
  },
});

withEach(VIEWS, "hides our secrets and our own directory, whatever may be read", async (choice) => {
  using own = await OwnSandbox.create(choice, ["token", "link-to-key", "no-such-file", "ws/secret"]);
  for (const name of ["token", "key", "ws/secret", "ws/other"]) Deno.writeTextFileSync(`${own.root}/${name}`, "secret");
  Deno.symlinkSync("key", `${own.root}/link-to-key`);
  const enforcement = await own.enforcement();
  const script = `for f in token key link-to-key ws/secret ws/other; do cat ../$f; echo; done; ls ${own.shared}; ` +
    `mv secret moved; rm -f secret; echo >secret`;
  const { stdout, stderr } = await own.run(enforcement, script);
  assert.equal(stdout.trim(), "secret");
  assert.match(stderr, /token: Permission denied[^]*key: Permission denied[^]*link-to-key: Permission denied/);
  assert.match(stderr, /ws\/secret: Permission denied[^]*exec-server'?: Permission denied/);
  assert.equal(Deno.readTextFileSync(`${own.workspace}/secret`), "secret");
});

Deno.test({
  name: "the sandbox does not take Landlock where it would have to hide something",
  ignore: missing.landlock !== undefined,
  fn: async () => {
    using own = await OwnSandbox.create("landlock", ["token"]);
    const policy = { fileSystem: restricted([READ_ALL]), network: "restricted" } as const;
    await own.enforcementOf(policy);
    Deno.writeTextFileSync(`${own.root}/token`, "secret");
    await assert.rejects(
      own.enforcementOf(policy),
      /landlock: Landlock cannot hide the files of the server's own tokens/,
    );
  },
});

withEach(VIEWS, "lets nobody write to what we are made of", async (choice) => {
  using own = await OwnSandbox.create(choice);
  const sources = new URL("../../lib", import.meta.url).pathname;
  const enforcement = await own.enforcement([entry(sources.slice(0, -"/lib".length), "write")]);
  const script = `for f in "$1" "$1/sandbox/launcher/main.ts" "$2"; do [ -w "$f" ] && echo "$f"; done; [ -w . ]`;
  const argv = ["/bin/sh", "-c", script, "sh", sources, Deno.execPath()];
  const { stdout, stderr, exitCode } = await own.run(enforcement, { argv });
  assert.deepEqual([stdout, stderr, exitCode], ["", "", 0]);
});

Deno.test({
  name: "the sandbox asks for nothing where nothing is to be enforced",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    using own = await OwnSandbox.create("auto");
    const open = await own.sandbox.plan({ fileSystem: "unrestricted", network: "enabled" }, never);
    assert.equal(await own.sandbox.enforcement(open), null);
    const offline = await own.sandbox.plan({ fileSystem: "unrestricted", network: "restricted" }, never);
    assert.equal((await own.sandbox.enforcement(offline))?.backEnd, "filter");
    using outside = await OwnSandbox.create("external");
    assert.equal(outside.sandbox.isExternal, true);
    const closed = await outside.sandbox.plan({ fileSystem: restricted([]), network: "restricted" }, never);
    assert.equal(await outside.sandbox.enforcement(closed), null);
  },
});

Deno.test({
  name: "the sandbox refuses a plan that cannot be held",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    using own = await OwnSandbox.create("auto");
    Deno.symlinkSync("elsewhere", `${own.workspace}/.git`);
    await assert.rejects(own.enforcement(), (error) => {
      assert.ok(error instanceof ExecError);
      assert.equal(error.kind, "sandboxUnavailable");
      assert.match(error.message, /cannot enforce sandbox read-only path .* because it crosses writable symlink/);
      return true;
    });
  },
});

/** Starts what is ready, without any streams, and does not wait for it. */
function start(prepared: PreparedLaunch): { pid: number; launch: PreparedLaunch } {
  using launch = prepared;
  const [argv, env] = [cStrings(launch.argv).block, cStrings(launch.env).block];
  const nothing = { path: cString("/dev/null"), flags: libc.O_RDWR };
  const pid = posixSpawn({
    path: cString(toBytes(launch.path)),
    argv: { pointers: argv, block: argv },
    env: { pointers: env, block: env },
    directory: cString(toBytes(fromText("/"))),
    descriptors: [nothing, nothing, nothing, ...launch.descriptors],
  });
  assert.ok(pid > 0, `${pid}`);
  launch.started(pid);
  return { pid, launch: prepared };
}

/** Waits for what another process brings about; the test ends by its own time limit otherwise. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

function openDescriptors(): string[] {
  return [...Deno.readDirSync("/proc/self/fd")].map(({ name }) => name);
}
