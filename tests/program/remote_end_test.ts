/** A remote environment as a program: what it serves, what it says, and how it ends. */
import assert from "node:assert/strict";
import type { ExecClient } from "../../lib/client/client.ts";
import { connectRelay } from "../../lib/client/connect.ts";
import { TestWorld } from "../relay/support/world.ts";
import { isAlive } from "../support/linux.ts";
import { eventually, inTime } from "./eventually.ts";
import { RemoteChild, type RemoteChildOptions } from "./remote_child.ts";
import { OUR_COMMAND, RunningServer } from "./running_server.ts";

const ignore = Deno.build.os !== "linux";
const ENVIRONMENT = "environment";
const ENV = { CODEX_API_KEY: "key-of-the-test" };
const EXIT_VARIABLE = "CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE";

interface Scene {
  readonly world: TestWorld;
  readonly child: RemoteChild;
  readonly client: ExecClient;
}

/** A remote environment with a harness. */
async function inScene(
  options: Omit<RemoteChildOptions, "args">,
  args: string[],
  act: (scene: Scene) => Promise<void>,
) {
  await using world = TestWorld.start();
  const [word, ...rest] = args;
  const command = word === "forward" ? ["forward"] : [];
  await using child = await RemoteChild.start({
    ...options,
    args: [
      ...command,
      "--remote",
      world.registryUrl,
      "--environment-id",
      ENVIRONMENT,
      ...command.length > 0 ? rest : args,
    ],
    env: { ...ENV, ...options.env },
  });
  await inTime("the executor", world.rendezvous.connected("executor", 1));
  await using client = await connectRelay({ registry: world.registryUrl, environmentId: ENVIRONMENT, token: "t" });
  await act({ world, child, client });
}

/** A program that runs until it is ended. @returns Its process id. */
async function sleeper(client: ExecClient): Promise<number> {
  const process = await client.start({ argv: ["sh", "-c", "echo $$; exec sleep 300"] });
  for await (const text of process.stdout.pipeThrough(new TextDecoderStream())) return Number(text);
  throw new Error("it said nothing");
}

async function says(client: ExecClient, word: string): Promise<void> {
  assert.equal((await client.run({ argv: ["echo", word] })).stdoutText, `${word}\n`);
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  Deno.test({
    name:
      `${signal} ends a remote environment with exit code 0, and the programs of all sessions, without a word on the wire`,
    ignore,
    async fn() {
      await inScene({}, [], async ({ world, child, client }) => {
        await using other = await connectRelay({
          ...{ registry: world.registryUrl, environmentId: ENVIRONMENT, token: "t" },
        });
        const pids = [await sleeper(client), await sleeper(other)];
        const [executor] = world.rendezvous.open("executor");
        const resets = () => world.rendezvous.framesOf("toHarness").filter(({ view }) => view.kind === "reset").length;
        const before = resets();
        child.program.signal(signal);
        const { code, stdout, stderr } = await child.ended();
        assert.deepEqual([code, stdout], [0, ""]);
        for (const pid of pids) await eventually("the program has ended", () => assert.ok(!isAlive(pid)));
        await executor!.socket.ended;
        assert.deepEqual([executor!.socket.closeCode, resets()], [null, before]);
        const lines = stderr.split("\n").map((line) => line.split(" ").slice(1).join(" "));
        assert.deepEqual(lines.slice(0, 2), [
          `INFO registered with the registry environment=${ENVIRONMENT}`,
          "INFO connected to the rendezvous",
        ]);
        assert.ok(lines.includes(`INFO ending signal=${signal}`));
        for (const secret of [ENV.CODEX_API_KEY, world.rendezvous.secret, ...world.registry.authorizations]) {
          assert.ok(!stderr.includes(secret));
        }
      });
    },
  });
}

for (
  const [what, args, env] of [
    ["--exit-on-stdin-close", ["--exit-on-stdin-close"], {}],
    ["its variable", [], { [EXIT_VARIABLE]: "true" }],
  ] as [string, string[], Record<string, string>][]
) {
  Deno.test({
    name: `${what} ends a remote environment with the end of standard input, and what is said there is ignored`,
    ignore,
    async fn() {
      await inScene({ input: "ignored\n", env }, args, async ({ child, client }) => {
        const pid = await sleeper(client);
        await child.write("x".repeat(100_000));
        await says(client, "still there");
        await child.program.closeInput();
        const { code, stdout } = await child.ended();
        assert.deepEqual([code, stdout], [0, ""]);
        await eventually("the program has ended", () => assert.ok(!isAlive(pid)));
      });
    },
  });
}

Deno.test({
  name: "without --exit-on-stdin-close the end of standard input means nothing, also behind a token",
  ignore,
  async fn() {
    await inScene({ input: "" }, [], async ({ child, client }) => {
      await child.program.closeInput();
      await says(client, "still there");
    });
    await inScene({ input: "my-bearer\n" }, ["--registration-bearer-stdin"], async ({ world, child, client }) => {
      await child.program.closeInput();
      await says(client, "still there");
      assert.equal(world.registry.requestsOf("validate")[0]!.headers["authorization"], "Bearer my-bearer");
    });
  },
});

Deno.test("a signal ends a program that waits for its token, before anything is asked", async () => {
  await using world = TestWorld.start();
  for (const flag of ["--registration-bearer-stdin", "--executor-credential-stdin"]) {
    await using child = await RemoteChild.start({
      args: ["--remote", world.registryUrl, "--environment-id", ENVIRONMENT, flag],
      input: "no newline",
      env: ENV,
    });
    // It listens for signals before it reads; that it has begun no event tells.
    await eventually("it has loaded", () => assert.ok(waitsForSignals(child.program.pid)));
    child.program.signal("SIGTERM");
    const { code, stdout } = await child.ended();
    assert.deepEqual([code, stdout], [0, ""]);
  }
  assert.equal(world.registry.requests.length, 0);
});

/**
 * Whether a program catches SIGTERM and waits. The kernel shows that it does a moment before the runtime knows what to
 * do with the signal; when it waits, it has come past that.
 */
function waitsForSignals(pid: number): boolean {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0";
  return /^State:\s*S/m.test(status) && (BigInt(`0x${caught}`) & (1n << 14n)) !== 0n;
}

Deno.test({
  name: "--concurrent-requests is for each stream",
  ignore,
  async fn() {
    const answer = Promise.withResolvers<Response>();
    await using web = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => answer.promise);
    await inScene({}, ["--concurrent-requests", "2"], async ({ client }) => {
      const asked = client.fetch(`http://127.0.0.1:${web.addr.port}/`);
      await inTime("an answer beside the one that waits", says(client, "meanwhile"));
      answer.resolve(new Response("at last"));
      assert.equal(await (await asked).text(), "at last");
    });
  },
});

Deno.test({
  name: "--max-detached bounds what a harness may ask for, and --log-level debug says what it asks",
  ignore,
  async fn() {
    await inScene({}, ["--max-detached", "90s", "--log-level", "debug"], async ({ child, client }) => {
      assert.equal(await client.lease(600_000), 90_000);
      child.program.signal("SIGTERM");
      assert.match((await child.ended()).stderr, /DEBUG request answered .*method=execServer\/session\/lease/);
    });
  },
});

Deno.test({
  name: "forward makes a server that runs already a remote environment, and leaves it when it ends",
  ignore,
  async fn() {
    await using server = await RunningServer.start({ command: OUR_COMMAND });
    const args = ["forward", "--connect", server.url, "--log-level", "debug"];
    await inScene({}, args, async ({ world, child, client }) => {
      await says(client, "through");
      const pid = await sleeper(client);
      const [executor] = world.rendezvous.open("executor");
      child.program.signal("SIGTERM");
      const { code, stdout, stderr } = await child.ended();
      assert.deepEqual([code, stdout], [0, ""]);
      assert.match(stderr, /DEBUG rendezvous answered outcome=success/);
      await executor!.socket.ended;
      assert.equal(executor!.socket.closeCode, null);
      assert.ok(isAlive(pid), "its session is the server's");
    });
  },
});

Deno.test({
  name: "options before the word forward are accepted, and said to have no effect",
  ignore,
  async fn() {
    await using world = TestWorld.start();
    await using child = await RemoteChild.start({
      args: [
        ...["--concurrent-requests", "2", "forward", "--remote", world.registryUrl],
        ...["--environment-id", ENVIRONMENT, "--connect", "ws://127.0.0.1:9"],
      ],
      env: ENV,
    });
    await world.registry.asked("register");
    child.program.signal("SIGTERM");
    const { code, stderr } = await child.ended();
    assert.equal(code, 0);
    assert.match(stderr, /WARN options have no effect before the word forward options=--concurrent-requests\n/);
  },
});
