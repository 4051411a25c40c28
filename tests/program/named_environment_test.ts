import assert from "node:assert/strict";
import { type Scene, testOurSide } from "./command_sides.ts";

/** What the user has configured: a server behind a URL, and one that is a command. */
async function configure({ user, server }: Scene): Promise<void> {
  await Deno.writeTextFile(
    `${user.home}/environments.toml`,
    `[[environments]]
id = "far"
url = "${server.url}"

[[environments]]
id = "command"
program = "${user.home}/bin/exec-server"
args = ["--listen", "stdio"]
env = { MARK = "of the command" }
`,
  );
}

testOurSide("--env runs a program in the environment of that name", async (scene) => {
  const { user, server } = scene;
  await configure(scene);
  const parent = ["--", "sh", "-c", "echo $PPID"];
  const far = await user.run(["exec", "--env", "far", ...parent]);
  assert.deepEqual(far, { code: 0, stdout: `${server.pid}\n`, stderr: "" });
  for (const name of ["command", "local"]) {
    const { code, stdout, stderr } = await user.run(["exec", "--env", name, ...parent]);
    assert.deepEqual([code, stderr], [0, ""]);
    assert.notEqual(stdout, far.stdout);
  }
});

testOurSide("--env with an unknown name says which there are", async (scene) => {
  await configure(scene);
  const { code, stderr } = await scene.user.run(["exec", "--env", "fra", "--", "true"]);
  assert.equal(code, 125);
  assert.equal(
    stderr,
    "exec-server: no environment 'fra' is configured in environments.toml or variables; there is local, far, command\n",
  );
});

testOurSide("a configuration that is wrong is named", async ({ user }) => {
  await Deno.writeTextFile(`${user.home}/environments.toml`, `[[environments]]\nid = "x"\n`);
  const { code, stderr } = await user.run(["exec", "--env", "x", "--", "true"]);
  assert.equal(code, 125);
  assert.equal(
    stderr,
    "exec-server: exec-server protocol error: environment `x` must set exactly one of url or program\n",
  );
});

testOurSide("a program can be left running in an environment that stays, and in no other", async (scene) => {
  await configure(scene);
  const { user } = scene;
  const { code, stdout } = await user.run(["exec", "--env", "far", "--detach", "--", "sh", "-c", "echo done; exit 2"]);
  assert.equal(code, 0);
  const attached = await user.run(["attach", stdout.trim()]);
  assert.deepEqual(attached, { code: 2, stdout: "done\n", stderr: "" });
  for (const name of ["command", "local"]) {
    const refused = await user.run(["exec", "--env", name, "--detach", "--", "true"]);
    assert.equal(refused.code, 125);
    assert.match(
      refused.stderr,
      /^exec-server: --detach is of no use with this environment: its server is started by this/,
    );
  }
});

testOurSide("options about the server that contradict each other are refused", async ({ user, connect }) => {
  const both = await user.run(["exec", ...connect, "--env", "far", "--", "true"]);
  assert.equal(both.code, 125);
  assert.match(both.stderr, /^error: the argument '--connect <URL>' cannot be used with '--env <NAME>'\n/);
  const lonely = await user.run(["exec", "--token-file", "x", "--", "true"]);
  assert.match(lonely.stderr, /^error: the argument '--token-file <PATH>' needs '--connect <URL>'\n/);
});
