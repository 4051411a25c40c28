import assert from "node:assert/strict";
import { silentLog } from "../../lib/log.ts";
import { fromText, toText } from "../../lib/sandbox/byte_path.ts";
import { type MacHost, thisMac } from "../../lib/sandbox/mac_host.ts";
import { portableTree } from "../../lib/sandbox/portable_tree.ts";
import { realTree } from "../../lib/sandbox/real_tree.ts";
import type { Sandbox, SandboxOptions } from "../../lib/sandbox/sandbox.ts";
import { createSeatbeltSandbox } from "../../lib/sandbox/seatbelt_sandbox.ts";
import { seatbeltSelfTest } from "../../lib/sandbox/seatbelt_self_test.ts";
import type { RunTrial, TrialOutcome } from "../../lib/sandbox/self_test.ts";
import { restricted } from "./policy_notation.ts";
import { installed } from "./support/bubblewrap_run.ts";

const never = new AbortController().signal;

/** What a shell says in whose place everything is as it should be; it writes where it may, as that is looked at. */
function wellConfined(argv: readonly string[]): TrialOutcome {
  Deno.writeTextFileSync(`${toText(argv.at(-3)!)}/writable/file`, "second\n");
  return { exitCode: 0, stdout: `y\ny\n${"n\n".repeat(9)}`, stderr: "" };
}

class FakeMac implements MacHost {
  readonly tree = portableTree;
  readonly ran: (readonly string[])[] = [];

  constructor(readonly answer: (argv: readonly string[]) => TrialOutcome = wellConfined) {}

  hasSandboxExec = () => true;
  networkCache = () => Promise.resolve("/cache");
  run: MacHost["run"] = ({ argv }) => {
    this.ran.push(argv);
    return Promise.resolve(this.answer(argv));
  };
}

function sandboxOn(host: MacHost, more: Partial<SandboxOptions> = {}): Sandbox {
  return createSeatbeltSandbox({ choice: "auto", log: silentLog, secretPaths: [], ...more }, host);
}

async function enforcementOf(sandbox: Sandbox, line: string, network: "restricted" | "enabled" = "restricted") {
  return await sandbox.enforcement(await sandbox.plan({ fileSystem: restricted(line), network }, never));
}

function temporary(): Disposable & { path: string } {
  const path = Deno.realPathSync(Deno.makeTempDirSync());
  return { path, [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }) };
}

Deno.test("a program is prepared to run under the policy of its plan, after one trial", async () => {
  using ground = temporary();
  const mac = new FakeMac();
  using sandbox = sandboxOn(mac);
  for (const cwd of [fromText(ground.path), "/etc"]) {
    const enforcement = await enforcementOf(sandbox, `${ground.path}:w`);
    assert.equal(enforcement!.backEnd, "seatbelt");
    using launch = await enforcement!.prepare({ file: "/bin/ls", argv: ["/bin/ls", "-l"], env: ["A=1"], cwd }, never);
    assert.equal(launch.path, "/usr/bin/sandbox-exec");
    assert.deepEqual(launch.argv.slice(-3), ["--", "/bin/ls", "-l"]);
    assert.ok(launch.argv.some((word) => word.startsWith("-DP") && word.endsWith(`=${ground.path}`)));
    assert.equal(launch.directory, cwd === "/etc" ? "/" : cwd);
  }
  assert.equal(mac.ran.length, 1);
});

Deno.test("secrets are kept from programs, by their real paths and whatever the policy grants", async () => {
  using ground = temporary();
  Deno.writeTextFileSync(`${ground.path}/token`, "secret");
  Deno.symlinkSync("token", `${ground.path}/link`);
  using sandbox = sandboxOn(new FakeMac(), { secretPaths: [`${ground.path}/link`, "/nothing/there"] });
  const enforcement = await enforcementOf(sandbox, "root:w");
  using launch = await enforcement!.prepare({ file: "/bin/ls", argv: ["/bin/ls"], env: [], cwd: "/" }, never);
  const definition = launch.argv.find((word) => word.endsWith(`=${ground.path}/token`));
  const name = definition!.slice(2, definition!.indexOf("="));
  assert.ok(launch.argv[2]!.includes(`(require-not (literal (param "${name}")))`));
});

Deno.test("what restricts nothing is not enforced, nor anything where the operator says that somebody else does it", async () => {
  const mac = new FakeMac();
  using sandbox = sandboxOn(mac);
  assert.equal(await enforcementOf(sandbox, "root:w", "enabled"), null);
  using external = sandboxOn(mac, { choice: "external" });
  assert.ok(external.isExternal);
  assert.equal(await enforcementOf(external, "root:r"), null);
  assert.equal(mac.ran.length, 0);
});

Deno.test("there is no sandbox where the trial fails, where sandbox-exec is missing, and for what only Linux has", async () => {
  const refusal = async (host: MacHost, more: Partial<SandboxOptions> = {}) => {
    using sandbox = sandboxOn(host, more);
    const error = await enforcementOf(sandbox, "root:r").catch((error) => error);
    assert.equal(error.kind, "sandboxUnavailable");
    return error.message;
  };
  const failed = new FakeMac(() => ({ exitCode: 65, stdout: "", stderr: "sandbox-exec: profile error\n" }));
  assert.equal(
    await refusal(failed),
    "sandbox unavailable: seatbelt: the trial ended with exit code 65: sandbox-exec: profile error",
  );
  const without = Object.assign(new FakeMac(), { hasSandboxExec: () => false });
  assert.equal(await refusal(without), "sandbox unavailable: seatbelt: there is no /usr/bin/sandbox-exec");
  assert.equal(
    await refusal(new FakeMac(), { choice: "bubblewrap" }),
    "sandbox unavailable: bubblewrap: there is none on macOS",
  );
  using sandbox = sandboxOn(without);
  const [{ name, reason, isChosen }] = await sandbox.report() as [Awaited<ReturnType<Sandbox["report"]>>[0]];
  assert.deepEqual([name, reason, isChosen], ["seatbelt", "there is no /usr/bin/sandbox-exec", true]);
});

Deno.test("requests for files are refused in words", async () => {
  using sandbox = sandboxOn(new FakeMac());
  const enforcement = await enforcementOf(sandbox, "root:r");
  assert.throws(() => enforcement!.files, {
    kind: "sandboxUnavailable",
    message: "sandbox unavailable: requests for files are not confined on macOS, and not done unconfined",
  });
});

Deno.test({
  name: "the trial notices everything that a shell without a sandbox can do",
  ignore: Deno.build.os === "windows",
  async fn() {
    const unconfined: RunTrial = ({ argv, env, cwd }, signal) => {
      const launch = {
        path: argv[0]!,
        argv: argv.map(fromText),
        env: Object.entries(env).map(([name, value]) => fromText(`${name}=${value}`)),
        directory: cwd,
        descriptors: [],
        started() {},
        ended: () => undefined,
        [Symbol.dispose]() {},
      };
      return thisMac.run(launch, signal);
    };
    const faults = (await seatbeltSelfTest({ tree: portableTree, run: unconfined }))!.split("; ");
    assert.deepEqual(faults, [
      "it lets a program write to what is read-only",
      "it lets a program make files where it may only read",
      "it lets a program change the mode of what is read-only",
      "it lets a program make a protected directory",
      "it lets a program read what is denied",
      "it lets a program rename what a read-only file lies in",
      "it lets a program write through a hard link",
      "it lets a program send signals to the server",
      "it lets a program connect to the network",
      "what is read-only was changed",
    ]);
  },
});

Deno.test({
  name: "the sandbox for macOS loads nothing that opens the C library of Linux",
  async fn() {
    const module = new URL("../../lib/sandbox/seatbelt_sandbox.ts", import.meta.url).href;
    // Without the permission that opening a library needs.
    const args = [
      "run",
      "--no-config",
      "--no-lock",
      "--no-prompt",
      "--allow-read",
      "--allow-env",
      "--allow-sys",
      module,
    ];
    const { success, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
  },
});

Deno.test({
  name: "the trial finds no fault with a sandbox that holds its policy",
  ignore: Deno.build.os !== "linux" || installed === null,
  async fn() {
    const { createSandbox } = await import("../../lib/sandbox/linux_sandbox.ts");
    const { runToEnd } = await import("../../lib/sandbox/run_to_end.ts");
    using sandbox = await createSandbox({ choice: "bubblewrap", log: silentLog, secretPaths: [] });
    const confined: RunTrial = async ({ plan, argv, env, cwd }, signal) => {
      const variables = Object.entries(env).map(([name, value]) => fromText(`${name}=${value}`));
      const words = argv.map(fromText);
      const enforcement = await sandbox.enforcement(plan);
      return await runToEnd(
        await enforcement!.prepare({ file: words[0]!, argv: words, env: variables, cwd }, signal),
        signal,
      );
    };
    assert.equal(await seatbeltSelfTest({ tree: realTree, run: confined }), undefined);
  },
});
