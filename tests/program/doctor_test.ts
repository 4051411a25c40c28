import assert from "node:assert/strict";
import { CommandLine } from "./command_line.ts";
import { testBothSides } from "./command_sides.ts";
import { OUR_COMMAND, RunningServer } from "./running_server.ts";

const CHECKS = [
  "address",
  "token",
  "connection",
  "version",
  "latency",
  "abilities",
  "program",
  "terminal",
  "files",
  "copying",
];
const onLinux = { ignore: Deno.build.os !== "linux" };

interface Finding {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
  readonly advice: string | null;
}

async function findings(user: CommandLine, args: readonly string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await user.run(["doctor", "--json", ...args], { env });
  assert.equal(stderr, "");
  const all: Finding[] = stdout.trim().split("\n").map((line) => JSON.parse(line));
  return { code, all, of: (name: string) => all.find((finding) => finding.name === name)! };
}

testBothSides("doctor finds nothing wrong with a server that works", async ({ user, connect, extended }) => {
  const { code, all, of } = await findings(user, connect);
  assert.equal(code, 0);
  assert.deepEqual(all.map(({ name }) => name), [...CHECKS, "sandbox", "detached"]);
  assert.deepEqual(all.filter(({ status }) => status === "failed" || status === "skipped"), []);
  assert.match(of("version").detail, extended ? /^exec-server \S+ on linux, wire of 0/ : /^codex exec-server on linux/);
  assert.equal(of("abilities").status, extended ? "ok" : "note");
  const plain = await user.run(["doctor", ...connect]);
  assert.equal(plain.code, 0);
  assert.match(plain.stdout, /^ok {6}address {5}ws:.*\nnote {4}token/);
  assert.deepEqual(await Array.fromAsync(Deno.readDir(`${user.home}/tmp`)), []);
});

Deno.test("doctor looks at the server that commands start for themselves", onLinux, async () => {
  await using user = await CommandLine.create();
  const { code, of } = await findings(user, []);
  assert.equal(code, 0);
  assert.equal(of("connection").detail, "a server of our own was started");
  // This machine is asked for: all that could enforce sandboxes is listed, with its promise or what it lacks.
  for (const name of ["bubblewrap", "unshare", "landlock", "filter"]) {
    const { status, detail } = of(name);
    assert.match(detail, status === "ok" ? /^can enforce / : /^does not work here: /, name);
  }
});

Deno.test("doctor does not find fault with a user who has no home", onLinux, async () => {
  await using user = await CommandLine.create();
  const { code, of } = await findings(user, [], { HOME: "", XDG_STATE_HOME: "" });
  assert.equal(code, 0);
  assert.equal(of("detached").status, "note");
  assert.match(of("detached").detail, /neither XDG_STATE_HOME nor HOME is set/);
});

Deno.test("doctor says what is wrong with a token, and never the token", onLinux, async () => {
  await using user = await CommandLine.create();
  await Deno.writeTextFile(`${user.home}/token`, "right-token-0123456789", { mode: 0o600 });
  await Deno.writeTextFile(`${user.home}/wrong`, "wrong-token-0123456789", { mode: 0o644 });
  const options = ["--ws-auth", "capability-token", "--ws-token-file", `${user.home}/token`];
  await using server = await RunningServer.start({ command: OUR_COMMAND, options });
  const connect = ["--connect", server.url];
  const right = await findings(user, [...connect, "--token-file", "token"]);
  assert.deepEqual([right.code, right.of("token").detail], [0, "from token"]);
  assert.equal((await findings(user, connect, { EXEC_SERVER_TOKEN: "right-token-0123456789" })).code, 0);
  for (const args of [connect, [...connect, "--token-file", "wrong"]]) {
    const { code, all, of } = await findings(user, args);
    assert.equal(code, 1);
    assert.match(of("connection").detail, /401 Unauthorized/);
    assert.match(of("connection").advice!, /the server wants a token, or another one/);
    assert.equal(of("files").status, "skipped");
    assert.doesNotMatch(JSON.stringify(all), /wrong-token/);
  }
  const { of } = await findings(user, [...connect, "--token-file", "wrong"]);
  assert.deepEqual([of("token").status, of("token").advice], ["note", "chmod go= 'wrong'"]);
  const missing = await findings(user, [...connect, "--token-file", "none"]);
  assert.match(missing.of("token").detail, /the token cannot be read: No such file or directory/);
});

Deno.test("doctor names why there is no connection", onLinux, async () => {
  await using user = await CommandLine.create();
  const free = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = free.addr;
  free.close();
  const other = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    if (request.headers.get("upgrade") === null || new URL(request.url).pathname === "/") return new Response("hello");
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.onmessage = () => request.url.endsWith("/garbage") ? socket.send("garbage") : socket.close(1008, "go away");
    return response;
  });
  try {
    const cases: [string, RegExp, RegExp][] = [
      [`ws://127.0.0.1:${port}`, /Connection refused/, /nobody listens there: start the server/],
      ["ws://no-such-host.invalid:1", /lookup address/, /the host's name is not known here/],
      [`ws://127.0.0.1:${other.addr.port}`, /HTTP error: 200 OK/, /something answers that is no WebSocket server/],
      [`wss://127.0.0.1:${other.addr.port}`, /./, /TLS|WebSocket/],
      [`ws://127.0.0.1:${other.addr.port}/garbage`, /failed to parse .*: expected value/, /no exec-server/],
      [`ws://127.0.0.1:${other.addr.port}/close`, /disconnected: closed .* 1008: go away/, /does not want us/],
    ];
    for (const [url, detail, advice] of cases) {
      const { code, of } = await findings(user, ["--connect", url]);
      assert.equal(code, 1);
      assert.match(of("connection").detail, detail);
      assert.match(of("connection").advice!, advice);
    }
  } finally {
    await other.shutdown();
  }
  const { code, stderr } = await user.run(["doctor", "--connect", "http://127.0.0.1"]);
  assert.equal(code, 2);
  assert.match(stderr, /'http:\/\/' is not supported; ws:\/\/ and wss:\/\/ are/);
});

Deno.test("doctor says what a program said that is no server", onLinux, async () => {
  await using user = await CommandLine.create();
  const script = "echo cannot start >&2; exit 3";
  await Deno.writeTextFile(
    `${user.home}/environments.toml`,
    `[[environments]]\nid = "x"\nprogram = "/bin/sh"\nargs = ["-c", "${script}"]\n`,
  );
  const { code, of } = await findings(user, ["--env", "x"]);
  assert.equal(code, 1);
  assert.match(of("connection").detail, /disconnected: end of input; it said: cannot start$/);
  assert.match(of("connection").advice!, /ended at once/);
});

Deno.test("doctor names what does not work behind the connection", onLinux, async () => {
  await using user = await CommandLine.create();
  const command = ["/usr/bin/env", `TMPDIR=${user.home}/none`, "PATH=/none", ...OUR_COMMAND] as const;
  await using server = await RunningServer.start({ command });
  const { code, of } = await findings(user, ["--connect", server.url]);
  assert.equal(code, 1);
  assert.match(of("files").detail, /no file can be written in .*none: No such file or directory/);
  assert.match(of("files").advice!, /another TMPDIR/);
  assert.equal(of("terminal").status, "ok");
  assert.match(of("copying").detail, /file by file.*: no tar and mv on the server's machine/);
});
