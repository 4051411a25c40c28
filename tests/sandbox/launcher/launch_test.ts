import assert from "node:assert/strict";
import { fromText } from "../../../lib/sandbox/byte_path.ts";
import { landlockVersion } from "../../../lib/linux/sandbox_calls.ts";
import type { LaunchPlan, ProgramPlan } from "../../../lib/sandbox/launcher/launch_plan.ts";
import { canBecome, networkFilterText, runWith, script, Workplace } from "../support/launcher.ts";

const ignore = Deno.build.os !== "linux";
const test = (name: string, fn: () => Promise<void>) => Deno.test({ name, ignore, fn });

/** Without any sandbox around it, so that it runs everywhere. */
function plainly(program: ProgramPlan, filters: readonly string[] = []): LaunchPlan {
  return { confinement: { kind: "filters" }, filters, program };
}

const BY_HAND = "sandbox: this is a part of the server that it starts itself; it is not for use by hand\n";

test("the launcher is of no use to anybody who has no sealed plan", async () => {
  using place = new Workplace("self");
  const file = place.file("plan", "exec-server launch plan 1 2\n{}");
  for (const path of ["/dev/null", file]) {
    assert.deepEqual(await runWith(path, place, undefined), { code: 126, stdout: "", stderr: BY_HAND });
  }
});

test("arguments, environment, directory and standard streams of a program are exactly what was asked for", async () => {
  using place = new Workplace("self");
  const program: ProgramPlan = {
    file: "/usr/bin/perl",
    argv: [
      "other name",
      "-e",
      'print join("|", $^X, @ARGV, map { "$_=$ENV{$_}" } sort keys %ENV)',
      "a b",
      "",
      fromText("ü"),
    ],
    env: ["B=2", "A=", `C=${fromText("ß")}`],
    cwd: fromText(place.root),
  };
  const { stdout, code } = await place.launch(plainly(program), undefined);
  assert.equal(code, 0);
  assert.match(stdout, /\|a b\|\|ü\|A=\|B=2\|C=ß$/);
  const shell = await place.launch(
    plainly({
      ...script("pwd; cat; echo err >&2; ls /proc/self/fd | wc -l; exec cat /proc/self/cmdline", place.root),
      argv: ["zero", "-c", "pwd; cat; echo err >&2; ls /proc/self/fd | wc -l; echo $0; umask"],
    }),
    undefined,
  );
  const mask = Deno.umask().toString(8).padStart(4, "0");
  assert.deepEqual(shell, { code: 0, stdout: `${place.root}\n4\nzero\n${mask}\n`, stderr: "err\n" });
});

test("a program is found on the PATH that it will have, and starts in / where its directory cannot be entered", async () => {
  using place = new Workplace("self");
  const bin = place.directory("bin");
  place.file("bin/hello", "#!/bin/sh\npwd\n");
  Deno.chmodSync(`${bin}/hello`, 0o755);
  const program = {
    file: "hello",
    argv: ["hello"],
    env: [fromText(`PATH=/nowhere:${bin}`)],
    cwd: fromText(`${place.root}/gone`),
  };
  assert.deepEqual(await place.launch(plainly(program), undefined), { code: 0, stdout: "/\n", stderr: "" });
});

test("what cannot be run is named, with the reference's words and exit codes", async () => {
  using place = new Workplace("self");
  const file = place.file("text", "no program");
  for (
    const [name, reason] of [
      ["no-such-program", "No such file or directory (os error 2)"],
      ["", "No such file or directory (os error 2)"],
      [fromText(file), "Permission denied (os error 13)"],
    ] as const
  ) {
    const program = { ...script("", "/"), file: name };
    assert.deepEqual(await place.launch(plainly({ ...program, argv: [name] }), undefined), {
      code: 101,
      stdout: "",
      stderr: `sandbox: Failed to execvp ${name}: ${reason}\n`,
    });
    assert.deepEqual(await place.launch(plainly({ ...program, argv: ["another name"] }), undefined), {
      code: 1,
      stdout: "",
      stderr: `failed to exec "${name}": ${reason}\n`,
    });
  }
});

test("programs get the default action for a broken pipe, no descriptor of ours, and the filters alone", async () => {
  using place = new Workplace("self");
  const text = "grep -E '^(SigIgn|SigBlk|NoNewPrivs|Seccomp):' /proc/self/status | tr -s '\\t ' ' '";
  const { stdout } = await place.launch(plainly(script(text, "/"), [networkFilterText("restricted")]), undefined);
  const none = "0000000000000000";
  assert.deepEqual(stdout.trim().split("\n").toSorted(), [
    "NoNewPrivs: 1",
    "Seccomp: 2",
    `SigBlk: ${none}`,
    `SigIgn: ${none}`,
  ]);
});

Deno.test({
  name: "under the filters alone the memory of other processes cannot be had, where there is Landlock",
  ignore: ignore || landlockVersion() < 4,
  fn: async () => {
    using place = new Workplace("self");
    const opened = async (pid: string) => {
      const program = script('(: < "/proc/$1/mem") 2>&- && echo opened; exit 0', "/", pid);
      return (await place.launch(plainly(program, [networkFilterText("restricted")]), undefined)).stdout;
    };
    assert.equal(await opened("self"), "opened\n");
    assert.equal(await opened(String(Deno.pid)), "");
  },
});

test("a filter that the kernel refuses ends the launch", async () => {
  using place = new Workplace("self");
  const { code, stdout, stderr } = await place.launch(plainly(script("echo ran", "/"), ["\xff".repeat(8)]), undefined);
  assert.deepEqual(
    { code, stdout, stderr },
    { code: 126, stdout: "", stderr: "sandbox: prctl PR_SET_SECCOMP: Invalid argument (os error 22)\n" },
  );
});

Deno.test({
  name: "without namespaces of its own the launcher makes no mounts",
  ignore: ignore || Deno.uid() !== 0 || !canBecome("nobody"),
  fn: async () => {
    using place = new Workplace("nobody");
    const plan: LaunchPlan = {
      ...plainly(script("echo ran", "/")),
      confinement: { kind: "mounts", mounts: [{ kind: "readOnlyBind", path: "/" }] },
    };
    assert.deepEqual(await place.launch(plan, undefined), {
      code: 126,
      stdout: "",
      stderr: "sandbox: mount_setattr / private: Operation not permitted (os error 1)\n",
    });
  },
});
