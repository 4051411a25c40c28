/** Every program of `examples/`, run as its first line says, against a real server. */
import assert from "node:assert/strict";
import { connectRelay } from "../../lib/client/connect.ts";
import { TcpProxy } from "../client/support/tcp_proxy.ts";
import { CommandLine } from "../program/command_line.ts";
import { inTime } from "../program/eventually.ts";
import { OUR_COMMAND, RunningServer } from "../program/running_server.ts";
import { Rig } from "../relay/support/rig.ts";
import { TestWorld } from "../relay/support/world.ts";
import { endWithUs } from "../support/end_with_us.ts";

const PROJECT = new URL("../../", import.meta.url).pathname;
/** Lines of one example, the last number that is allowed. */
const MAX_LINES = 24;
const ignore = Deno.build.os !== "linux";

/** Starts an example with a server's URL and more arguments. */
function start(name: string, args: readonly string[], env: Record<string, string> = {}): Deno.ChildProcess {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "-A", `${PROJECT}examples/${name}.ts`, ...args],
    cwd: PROJECT,
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  return endWithUs(command.spawn());
}

async function outputOf(name: string, args: readonly string[], env?: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await inTime(`the end of ${name}`, start(name, args, env).output());
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

async function withDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "exec-server-example-" });
  try {
    await use(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** What each example is given after the server's URL, and what it prints. */
const TESTS: Readonly<Record<string, (url: string) => Promise<void>>> = {
  async run_command(url) {
    const printed = await outputOf("run_command", [url]);
    assert.equal(printed, '{ code: 3, stdoutText: "hello, world\\n", stderrText: "oh\\n" }\n');
  },
  async conversation(url) {
    const printed = await outputOf("conversation", [url]);
    assert.equal(printed, "1 + 1 = 2\n6 * 7 = 42\n100 / 8 = 12\nexit code 0\n");
  },
  async edit_files(url) {
    await withDirectory(async (directory) => {
      assert.equal(await outputOf("edit_files", [url, `${directory}/new`]), "notes.txt 10\n");
      const again = (await outputOf("edit_files", [url, `${directory}/new`])).trim().split("\n").sort();
      assert.deepEqual(again, ["notes.txt 10", "notes.txt.old 10"]);
      assert.equal(await Deno.readTextFile(`${directory}/new/notes.txt`), "one\nthree\n");
    });
  },
  async fetch_through(url) {
    await using web = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
      return new Response(`wants ${request.headers.get("accept")}\n`);
    });
    const printed = await outputOf("fetch_through", [url, `http://127.0.0.1:${web.addr.port}/`]);
    assert.equal(printed, "200 text/plain;charset=UTF-8\nwants text/plain\n");
  },
  async reconnect(url) {
    await using proxy = new TcpProxy(url);
    const child = start("reconnect", [proxy.url]);
    const states = new Response(child.stderr).text();
    let printed = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      if (!printed.includes("line 3") && (printed + text).includes("line 3")) proxy.cut();
      printed += text;
    }
    await child.status;
    const lines = Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join("");
    assert.equal(printed, `${lines}exit code 0\n`);
    assert.equal(await states, "(connected)\n(disconnected)\n(connected)\n(disconnected)\n");
  },
  async own_server() {
    const printed = (await outputOf("own_server", OUR_COMMAND)).split("\n");
    assert.equal(printed[0], `linux file://${PROJECT.replace(/\/$/, "")}`);
    assert.ok(printed.includes("examples/") && printed.includes("deno.json"));
  },
  async local(url) {
    assert.equal(await outputOf("local", []), "local 3\n");
    assert.equal(await outputOf("local", [url]), "remote 3\n");
  },
  async remote_environment() {
    await using world = TestWorld.start();
    const child = start("remote_environment", [world.registryUrl, "of the example"], { TOKEN: "of-the-example" });
    const [printed, said] = [new Response(child.stdout).text(), new Response(child.stderr).text()];
    await inTime("the executor", world.rendezvous.connected("executor", 1));
    const relay = { registry: world.registryUrl, environmentId: "of the example", token: "harness" };
    await using client = await connectRelay(relay);
    assert.equal((await client.run({ argv: ["echo", "hello"] })).stdoutText, "hello\n");
    child.kill("SIGINT");
    assert.equal((await inTime("the end", child.status)).code, 0);
    assert.equal(await printed, "nothing is left open\n");
    assert.match(await said, /INFO connected to the rendezvous\n/);
    assert.equal(world.registry.requests[0]!.headers["authorization"], "Bearer of-the-example");
  },
  async over_relay() {
    await using rig = await Rig.start();
    const { registry, environmentId } = rig.relay;
    const printed = await outputOf("over_relay", [String(registry), environmentId], { TOKEN: "of-the-harness" });
    assert.equal(printed, "hello from sh 0\n");
    const [asked] = rig.world.registry.requestsOf("connect");
    assert.equal(asked?.headers["authorization"], "Bearer of-the-harness");
    assert.equal(rig.world.relayedHas("hello from"), false);
  },
  async terminal(url) {
    await using user = await CommandLine.create();
    await using terminal = user.terminal({ rows: 30, columns: 100 });
    await terminal.shows("@> ");
    await terminal.type(`cd ${PROJECT}; '${Deno.execPath()}' run --quiet -A examples/terminal.ts ${url}\n`);
    await terminal.shows(/[$#] $/);
    await terminal.type("stty size; exit 5\n");
    await terminal.shows("30 100\r");
    await terminal.shows("@> ");
    assert.equal(await terminal.does("echo code $?"), "code 5\n");
  },
};

for (const [name, test] of Object.entries(TESTS)) {
  Deno.test({
    name: `the example ${name} does what it says`,
    ignore,
    async fn() {
      await using server = await RunningServer.start({ command: OUR_COMMAND });
      await test(server.url);
    },
  });
}

Deno.test("every example is short, tested, and named in the list", async () => {
  const list = await Deno.readTextFile(`${PROJECT}examples/README.md`);
  const names = (await Array.fromAsync(Deno.readDir(`${PROJECT}examples`)))
    .map(({ name }) => name).filter((name) => name.endsWith(".ts"));
  assert.deepEqual(names.map((name) => name.replace(".ts", "")).sort(), Object.keys(TESTS).sort());
  for (const name of names) {
    const lines = (await Deno.readTextFile(`${PROJECT}examples/${name}`)).trimEnd().split("\n").length;
    assert.ok(lines <= MAX_LINES, `${name} has ${lines} lines`);
    assert.ok(list.includes(`(${name})`), `${name} is not in the list`);
  }
});
