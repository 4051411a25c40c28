/** The commands, with an environment that is behind a registry. */
import assert from "node:assert/strict";
// Loaded here, because a library stays open once it is: `doctor` asks the server in this process for sandboxes.
import "../../lib/fs/sandboxed/confined_files.ts";
import "../../lib/sandbox/linux_sandbox.ts";
import { relayTest, Rig } from "../relay/support/rig.ts";
import { CommandLine } from "./command_line.ts";
import { inTime } from "./eventually.ts";

interface RelayScene {
  readonly rig: Rig;
  readonly user: CommandLine;
  readonly env: Readonly<Record<string, string>>;
  run(...argv: string[]): ReturnType<CommandLine["run"]>;
}

function commandsTest(name: string, fn: (scene: RelayScene) => Promise<void>): void {
  relayTest(name, async () => {
    await using rig = await Rig.start();
    await using user = await CommandLine.create();
    const { registry, environmentId, token } = rig.relay;
    const env = {
      CODEX_EXEC_SERVER_NOISE_REGISTRY_URL: String(registry),
      CODEX_EXEC_SERVER_NOISE_ENVIRONMENT_ID: environmentId,
      CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN: String(token),
    };
    await fn({ rig, user, env, run: (...argv) => user.run(argv, { env }) });
  });
}

commandsTest("exec, ls, cat and cp reach the environment of a registry", async ({ user, run }) => {
  const { code, stdout, stderr } = await run(
    "exec",
    "--env",
    "remote",
    "--",
    "sh",
    "-c",
    "echo out; echo err >&2; exit 3",
  );
  assert.deepEqual([code, stdout, stderr], [3, "out\n", "err\n"]);
  await Deno.writeTextFile(`${user.home}/one`, "content\n");
  const copied = await run("cp", "--env", "remote", `${user.home}/one`, `env:${user.home}/two`);
  assert.equal(copied.code, 0, copied.stderr);
  assert.deepEqual((await run("cat", "--env", "remote", `${user.home}/two`)).stdout, "content\n");
  assert.match((await run("ls", "--env", "remote", user.home)).stdout, /^one$/m);
});

commandsTest("a program is left running, and attached to over a lost connection", async ({ rig, user, env, run }) => {
  const script = `echo one; while ! [ -e ${user.home}/go ]; do sleep 0.05; done; echo two; exit 5`;
  const detached = await run("exec", "--env", "remote", "--detach", "--", "sh", "-c", script);
  assert.equal(detached.code, 0, detached.stderr);
  const id = detached.stdout.trim();
  assert.match((await run("ps")).stdout, new RegExp(`^${id} +running .* sh +remote$`, "m"));
  const attached = user.spawn(["attach", id], { env });
  await attached.stdin.close();
  const errors = new Response(attached.stderr).text();
  const output = attached.stdout.pipeThrough(new TextDecoderStream()).getReader();
  assert.equal((await inTime("output", output.read())).value, "one\n");
  rig.world.rendezvous.cut("harness");
  await Deno.writeTextFile(`${user.home}/go`, "");
  assert.equal((await inTime("output", output.read())).value, "two\n");
  assert.equal((await inTime("the end", output.read())).done, true);
  assert.equal((await attached.status).code, 5);
  assert.match(await errors, /the link to the server is back/);
  assert.deepEqual(await run("logs", id), { code: 0, stdout: "one\ntwo\n", stderr: "" });
});

commandsTest("kill ends a program that was left running", async ({ run }) => {
  const id = (await run("exec", "--env", "remote", "--detach", "--", "sleep", "1000")).stdout.trim();
  assert.deepEqual(await run("kill", id), { code: 0, stdout: "", stderr: "" });
  assert.match((await run("ps")).stdout, new RegExp(`^${id} +ended \\(SIGTERM\\)`, "m"));
});

commandsTest("doctor says where the environment comes from, and what a registry refuses", async ({ rig, run }) => {
  const well = await run("doctor", "--env", "remote");
  assert.equal(well.code, 0, well.stdout);
  assert.match(well.stdout, /^ok +address +environment remote of a registry, as variables say$/m);
  assert.match(well.stdout, /^ok +token +from the variable CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN$/m);
  rig.world.registry.always("connect", { status: 401 });
  const refused = await run("doctor", "--env", "remote");
  assert.equal(refused.code, 1);
  assert.match(refused.stdout, /the registry does not take the token/);
});
