import assert from "node:assert/strict";
import { eventually } from "./eventually.ts";
import { testBothSides, testOurSide } from "./command_sides.ts";
import { isAlive } from "../support/linux.ts";
import { CommandLine } from "./command_line.ts";

const sh = (script: string) => ["--", "sh", "-c", script];

testBothSides(
  "exec gives each output on its own descriptor and ends with the program's exit code",
  async ({ user, connect }) => {
    assert.deepEqual(await user.run(["exec", ...connect, ...sh("echo out; echo err >&2; exit 3")]), {
      code: 3,
      stdout: "out\n",
      stderr: "err\n",
    });
  },
);

Deno.test("exec without a server has one of its own, which is gone afterwards with all that it ran", async () => {
  await using user = await CommandLine.create();
  const script = "echo $PPID; pwd; sleep 1000 >/dev/null 2>&1 & echo $!";
  const { code, stdout, stderr } = await user.run(["exec", ...sh(script)]);
  assert.deepEqual([code, stderr], [0, ""]);
  const lines = stdout.trim().split("\n");
  assert.equal(lines.length, 3);
  assert.ok(lines.includes(await Deno.realPath(user.home)), stdout);
  for (const pid of lines.filter((line) => /^\d+$/.test(line))) {
    await eventually(`process ${pid} is gone`, () => assert.ok(!isAlive(Number(pid))));
  }
});

testBothSides("exec passes input on", async ({ user, connect }) => {
  const { code, stdout } = await user.run(["exec", ...connect, "--", "head", "-c", "6"], { input: "hello world" });
  assert.deepEqual([code, stdout], [0, "hello "]);
});

testOurSide("exec passes on the end of input, and a megabyte before it arrives whole", async ({ user, connect }) => {
  assert.deepEqual(await user.run(["exec", ...connect, "--", "cat"], { input: "x\n" }), {
    code: 0,
    stdout: "x\n",
    stderr: "",
  });
  const input = crypto.getRandomValues(new Uint8Array(65_536));
  const megabyte = new Uint8Array(16 * input.length);
  for (let i = 0; i < 16; i++) megabyte.set(input, i * input.length);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", megabyte)).toHex();
  const { stdout } = await user.run(["exec", ...connect, "--", "sha256sum"], { input: megabyte });
  assert.equal(stdout, `${digest}  -\n`);
});

testBothSides("exec with an empty input ends what reads it", async ({ user, connect }) => {
  assert.deepEqual(await user.run(["exec", ...connect, "--", "cat"]), { code: 0, stdout: "", stderr: "" });
});

testBothSides("exec says what cannot be run, with the exit codes of a shell", async ({ user, connect }) => {
  const run = (...argv: string[]) => user.run(["exec", ...connect, ...argv]);
  const said = (text: string) => ({ stdout: "", stderr: `exec-server: ${text}\n` });
  assert.deepEqual(await run("nosuchprogram"), {
    code: 127,
    ...said("cannot run 'nosuchprogram': No such file or directory (os error 2)"),
  });
  assert.deepEqual(await run("/etc/passwd"), {
    code: 126,
    ...said("cannot run '/etc/passwd': Permission denied (os error 13)"),
  });
  assert.deepEqual(await run("-t", "nosuchprogram"), {
    code: 127,
    ...said("cannot run 'nosuchprogram': it is not on the PATH there"),
  });
  for (const options of [[], ["-t"]]) {
    assert.deepEqual(await run(...options, "--cwd", "/nowhere", "ls"), {
      code: 126,
      ...said("there is no directory '/nowhere' to run 'ls' in"),
    });
    assert.deepEqual(await run(...options, "--cwd", "/etc/passwd", "ls"), {
      code: 126,
      ...said("there is no directory '/etc/passwd' to run 'ls' in"),
    });
  }
  assert.deepEqual(await run("--cwd", "/tmp", "/etc/passwd"), {
    code: 126,
    ...said("cannot run '/etc/passwd' in '/tmp': Permission denied (os error 13)"),
  });
  const { code, stderr } = await run("");
  assert.equal(code, 125);
  assert.match(stderr, /^error: PROGRAM is empty\n/);
});

testBothSides("exec names the descriptor that cannot be read or written", async ({ user, connect }) => {
  const exec = `exec-server exec ${connect.join(" ")} --`;
  assert.deepEqual(await user.shell(`${exec} echo hello >/dev/full`), {
    code: 125,
    stdout: "",
    stderr: "exec-server: cannot write to standard output: No space left on device (os error 28)\n",
  });
  assert.deepEqual(await user.shell(`${exec} cat </`), {
    code: 125,
    stdout: "",
    stderr: "exec-server: cannot read standard input: Is a directory (os error 21)\n",
  });
});

testBothSides("exec does its work without standard descriptors", async ({ user, connect }) => {
  const exec = `exec-server exec ${connect.join(" ")} --`;
  const closed = await user.shell(`${exec} sh -c 'cat; exit 5' <&- >&- 2>&-`);
  assert.deepEqual(closed, { code: 5, stdout: "", stderr: "" });
});

testBothSides("exec names the signal that ended a program", async ({ user, connect, extended }) => {
  const { code, stderr } = await user.run(["exec", ...connect, ...sh("kill -9 $$")]);
  assert.equal(code, 137);
  assert.match(stderr, extended ? /: the program was ended by SIGKILL\n$/ : /probably ended by SIGKILL/);
});

testOurSide("exec -t names the signal as well", async ({ user, connect }) => {
  const { code, stderr } = await user.run(["exec", ...connect, "-t", ...sh("kill -TERM $$")]);
  assert.deepEqual([code, stderr], [143, "exec-server: the program was ended by SIGTERM\n"]);
});

testBothSides("exec ends a program after its time limit", async ({ user, connect }) => {
  const { code, stdout, stderr } = await user.run([
    "exec",
    ...connect,
    "--timeout",
    "700ms",
    ...sh("echo begun; sleep 1000"),
  ]);
  assert.deepEqual([code, stdout], [124, "begun\n"]);
  assert.equal(stderr, "exec-server: the program was killed after 700ms, its time limit\n");
});

testBothSides(
  "exec does not wait for a child that holds the output of a program that has ended",
  async ({ user, connect }) => {
    const { code, stdout } = await user.run(["exec", ...connect, ...sh("sleep 1000 & echo done; exit 5")]);
    assert.deepEqual([code, stdout], [5, "done\n"]);
  },
);

testBothSides("exec loses nothing of a flood", async ({ user, connect }) => {
  const { code, stdout } = await user.run(["exec", ...connect, ...sh("seq 1 500000")]);
  assert.equal(code, 0);
  assert.equal(stdout, Array.from({ length: 500_000 }, (_, i) => `${i + 1}\n`).join(""));
});

testBothSides("exec ends quietly when its reader has gone, and the program with it", async ({ user, connect }) => {
  const child = user.spawn(["exec", ...connect, ...sh("echo $$; exec yes")]);
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  const [pid] = new TextDecoder().decode(value).split("\n");
  await reader.cancel();
  const [{ code }, stderr] = await Promise.all([child.status, new Response(child.stderr).text()]);
  await child.stdin.close();
  assert.deepEqual([code, stderr], [141, ""]);
  await eventually(`process ${pid} is gone`, () => assert.ok(!isAlive(Number(pid))));
});

testBothSides(
  "exec gives the variables of the command line, values of ours among them, and the core ones",
  async ({ user, connect }) => {
    const argv = [
      "exec",
      ...connect,
      "-e",
      "A=1=2",
      "-e",
      "SECRET",
      ...sh("echo $A $SECRET ${PATH:+path} ${DENO_DIR:-none}"),
    ];
    const { code, stdout } = await user.run(argv, { env: { SECRET: "s3cret" } });
    assert.deepEqual([code, stdout], [0, "1=2 s3cret path none\n"]);
    const refused = await user.run(["exec", ...connect, "-e", "NOT_SET", "--", "true"]);
    assert.equal(refused.code, 125);
    assert.match(refused.stderr, /^error: the variable 'NOT_SET' of '--env-var NOT_SET' is not set here\n/);
  },
);

testBothSides("exec -t gives a terminal, and reads the keys of a pipe to their end", async ({ user, connect }) => {
  const { code, stdout } = await user.run(["exec", ...connect, "-t", ...sh("stty -echo; tty; cat; echo end")], {
    input: "unfinished",
  });
  assert.equal(code, 0);
  assert.match(stdout, /\/dev\/pts\/\d+\r\nunfinishedend\r\n$/);
});

testBothSides("exec says when the link is lost, and ends with 255", async ({ user, server, connect }) => {
  const child = user.spawn(["exec", ...connect, ...sh("echo begun; sleep 1000")]);
  const stderr = new Response(child.stderr).text();
  const reader = child.stdout.getReader();
  await reader.read();
  // A server in its place that knows nothing of the session would refuse at once; nobody there would be tried for 45 s.
  server.child.kill("SIGKILL");
  await server.child.status;
  const address = new URL(server.url);
  const stranger = Deno.serve({ hostname: address.hostname, port: Number(address.port), onListen() {} }, (request) => {
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.onmessage = ({ data }) => {
      const { id } = JSON.parse(data);
      socket.send(JSON.stringify({ id, error: { code: -32600, message: "unknown session id x" } }));
    };
    return response;
  });
  const { code } = await child.status;
  assert.equal(code, 255);
  assert.match(
    await stderr,
    /the link to the server is lost; trying to get it back\n.*the link to the server is lost, and the program may still run: .*unknown session id x\n$/s,
  );
  await Promise.all([reader.cancel(), child.stdin.close(), stranger.shutdown()]);
});

Deno.test("exec fails with 125 when there is no server", async () => {
  await using user = await CommandLine.create();
  const { code, stdout, stderr } = await user.run(["exec", "--connect", "ws://127.0.0.1:9", "--", "true"]);
  assert.deepEqual([code, stdout], [125, ""]);
  assert.match(stderr, /^exec-server: failed to connect to exec-server websocket `ws:\/\/127\.0\.0\.1:9`: .+\n$/);
});

Deno.test("no secret in a URL is taken, nor shown", async () => {
  await using user = await CommandLine.create();
  const { code, stderr } = await user.run(["exec", "--connect", "ws://me:s3cret@127.0.0.1:9", "--", "true"]);
  assert.equal(code, 125);
  assert.match(stderr, /a URL must not hold a name or password/);
  assert.doesNotMatch(stderr, /s3cret/);
});
