import assert from "node:assert/strict";
import type { CommandLine } from "./command_line.ts";
import { testBothSides, testOurSide, testReferenceSide } from "./command_sides.ts";
import { eventually, inTime } from "./eventually.ts";
import { RunningServer } from "./running_server.ts";

const detach = async (user: CommandLine, connect: readonly string[], script: string): Promise<string> => {
  const { code, stdout, stderr } = await user.run(["exec", "--detach", ...connect, "--", "sh", "-c", script]);
  assert.equal(code, 0, stderr);
  return stdout.trim();
};

const listed = async (user: CommandLine) => {
  const { code, stdout } = await user.run(["ps", "--json"]);
  assert.equal(code, 0);
  return stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
};

testBothSides("ps, logs and kill find what exec --detach left running", async ({ user, server, connect, extended }) => {
  const id = await detach(user, connect, "echo out; echo err >&2; exec sleep 1000");
  const [running] = await listed(user);
  assert.deepEqual([running.id, running.program, running.server, running.state, running.exitCode], [
    id,
    "sh",
    server.url,
    "running",
    null,
  ]);
  assert.match((await user.run(["ps"])).stdout, new RegExp(`^ID .*\\n${id} +running .* sh +${server.url}\\n$`));
  const short = id.slice(0, 6);
  assert.deepEqual(await user.run(["logs", short]), { code: 0, stdout: "out\n", stderr: "err\n" });
  assert.deepEqual(await user.run(["kill", "-s", "kill", short]), { code: 0, stdout: "", stderr: "" });
  assert.deepEqual(await user.run(["logs", "-f", id]), { code: 0, stdout: "out\n", stderr: "err\n" });
  const [ended] = await listed(user);
  assert.deepEqual([ended.state, ended.exitCode, ended.signal], ["ended", 137, extended ? "SIGKILL" : null]);
  const again = await user.run(["kill", id]);
  assert.deepEqual([again.code, again.stderr], [1, `exec-server: '${id}' had ended already\n`]);
});

testBothSides(
  "logs -f shows what comes until the end, and Ctrl-C leaves the program alone",
  async ({ user, connect }) => {
    const id = await detach(user, connect, `echo one; while ! [ -e ${user.home}/go ]; do sleep 0.05; done; echo two`);
    const watching = () => {
      const child = user.spawn(["logs", "-f", id]);
      const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
      return { child, reader, next: async () => (await inTime("output", reader.read())).value };
    };
    const first = watching();
    assert.equal(await first.next(), "one\n");
    // Only one client can have a session.
    const busy = await user.run(["logs", id]);
    assert.equal(busy.code, 1);
    assert.match(busy.stderr, /another client is attached to/);
    assert.deepEqual((await listed(user)).map(({ state }) => state), ["in use"]);
    first.child.kill("SIGINT");
    await Promise.all([first.child.stdin.close(), first.child.stderr.cancel(), first.reader.cancel()]);
    assert.equal((await inTime("the end of logs", first.child.status)).code, 130);

    const second = watching();
    assert.equal(await second.next(), "one\n");
    await Deno.writeTextFile(`${user.home}/go`, "");
    assert.equal(await second.next(), "two\n");
    await Promise.all([second.child.stdin.close(), second.child.stderr.cancel()]);
    assert.equal(await second.next(), undefined);
    assert.equal((await inTime("the end of logs", second.child.status)).code, 0);
    const events = (await user.run(["logs", "--json", id])).stdout.trim().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(events.map(({ type }) => type), ["output", "output", "exited", "closed"]);
    assert.deepEqual([events[0].stream, events[0].base64, events[2].code], ["stdout", "b25lCg==", 0]);
  },
);

testOurSide("kill sends any signal by name, and ps tells of it and of time limits", async ({ user, connect }) => {
  const id = await detach(user, connect, "trap 'echo caught; exit 7' USR1; while :; do sleep 0.05; done");
  await eventually("the trap is set", () => {});
  assert.equal((await user.run(["kill", "-s", "SIGUSR1", id])).code, 0);
  assert.equal((await user.run(["logs", "-f", id])).stdout, "caught\n");
  const { code, stdout } = await user.run(["exec", "--detach", "--timeout", "50ms", ...connect, "--", "sleep", "1000"]);
  assert.equal(code, 0);
  assert.equal((await user.run(["logs", "-f", stdout.trim()])).code, 0);
  assert.deepEqual((await listed(user)).map(({ exitCode, reason }) => [exitCode, reason]), [
    [7, "exited"],
    [137, "timeLimit"],
  ]);
  assert.match((await user.run(["ps"])).stdout, /ended \(7\)[^]*ended \(time limit\)/);
  assert.match((await user.run(["kill", "-s", "x y", id])).stderr, /a name such as TERM or SIGTERM is expected/);
  assert.match((await user.run(["kill", "-s", "NOPE", id])).stderr, /had ended already/);
});

testReferenceSide("kill says what a server without our extensions cannot send", async ({ user, connect }) => {
  const id = await detach(user, connect, "trap 'exit 9' INT; while :; do sleep 0.05; done");
  const { code, stderr } = await user.run(["kill", id]);
  assert.equal(code, 1);
  assert.match(stderr, /cannot send SIGTERM: of all signals it has only SIGINT and SIGKILL/);
  assert.equal((await user.run(["kill", "-s", "INT", id])).code, 0);
  assert.equal((await user.run(["logs", "-f", id])).code, 0);
  assert.deepEqual((await listed(user)).map(({ exitCode }) => exitCode), [9]);
});

testBothSides("what a server does not know any more is forgotten, and what cannot be reached is not", async (scene) => {
  const { user } = scene;
  let url: string;
  {
    await using first = await RunningServer.start();
    url = first.url;
    await detach(user, ["--connect", url], "exec sleep 1000");
  }
  const [lost] = await listed(user);
  assert.equal(lost.state, "unreachable");
  assert.match(lost.error, /Connection refused/);
  const { stdout, stderr } = await user.run(["ps"]);
  assert.match(stdout, /^ID .*\n\w+ {2}unreachable {2}/);
  assert.match(stderr, /^exec-server: failed to connect to .*: Connection refused/);
  // Another server at the same address: as after a restart.
  const state = `${user.home}/.local/state/exec-server/detached/${lost.id}.json`;
  await Deno.writeTextFile(state, (await Deno.readTextFile(state)).replace(url, scene.server.url));
  const logs = await user.run(["logs", lost.id]);
  assert.equal(logs.code, 1);
  assert.match(
    logs.stderr,
    new RegExp(`'${lost.id}' is gone: it was not asked for in time, or its server was started anew`),
  );
  assert.deepEqual(await user.run(["ps", "--json"]), { code: 0, stdout: "", stderr: "" });
  assert.match((await user.run(["kill", lost.id])).stderr, /no detached process '.*' is remembered/);
});
