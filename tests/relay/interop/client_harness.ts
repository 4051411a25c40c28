/** Our harness, through the test rendezvous, with executors and forwarders of the reference's and our own. */
import assert from "node:assert/strict";
import type { ExecClient } from "../../../lib/client/client.ts";
import { connectRelay } from "../../../lib/client/connect.ts";
import { relayCarrier } from "../../../lib/client/relay_carrier.ts";
import { SUITE } from "../../client/suite/mod.ts";
import { runCase } from "../../client/suite/register.ts";
import { eventually } from "../../program/eventually.ts";
import { RunningServer, type ServerCommand } from "../../program/running_server.ts";
import { startRemote } from "../support/remote_program.ts";
import { TestWorld } from "../support/world.ts";
import type { Programs } from "./codex_harness.ts";
import { connected } from "./reach.ts";
import { ANOTHER_KEY } from "./relay_cases.ts";
import { RelayBridge } from "./relay_bridge.ts";
import type { Run } from "./run.ts";

const ENVIRONMENT_ID = "environment of tests";

/** Who is at the other end. */
interface Far {
  readonly title: string;
  readonly kind: "ours" | "reference";
  readonly role: "executor" | "forward";
  /** A command up to and without `--remote`, with absolute paths. */
  readonly command: readonly string[];
}

/** What goes through a carrier is the same whoever made it; children of the client's have none. */
const SUBJECTS = SUITE.filter(([subject]) => subject !== "servers as children");

export function clientRuns({ reference, ours }: Programs): Run[] {
  const fars: Far[] = (["executor", "forward"] as const).flatMap((role) => {
    const word = role === "forward" ? "forwarder" : role;
    return [
      { title: `the reference's ${word}`, kind: "reference", role, command: reference } as const,
      { title: `our ${word}`, kind: "ours", role, command: ours } as const,
    ];
  });
  return fars.flatMap((far) => [
    ...RELAY_RUNS.map(([what, run]) => ({
      title: `our harness and ${far.title}: ${what}`,
      run: () => withFar(far, run),
    })),
    ...SUBJECTS.map(([subject, cases]) => ({
      title: `our harness and ${far.title}: ${subject}, ${cases.length} cases`,
      run: () =>
        withFar(far, async (world) => {
          await using bridge = new RelayBridge(relayCarrier(relayOf(world)));
          const server = { kind: far.kind, url: bridge.url, command: far.command as ServerCommand };
          for (const each of cases) await named(each.name, runCase(each, server));
        }),
    })),
  ]);
}

async function withFar({ role, command }: Far, run: (world: TestWorld) => Promise<void>): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const world = resources.use(TestWorld.start());
  const remote = { registryUrl: world.registryUrl, environmentId: ENVIRONMENT_ID };
  let words = [...command];
  if (role === "forward") {
    const { url } = resources.use(await RunningServer.start({ command: command as ServerCommand }));
    words = [...words, "forward", "--connect", url];
  }
  await connected(world, await startRemote(resources, { words, ...remote }));
  await run(world);
}

function relayOf(world: TestWorld): Parameters<typeof connectRelay>[0] {
  return { registry: world.registryUrl, environmentId: ENVIRONMENT_ID, token: "token-of-the-harness" };
}

/** @throws {Error} That says in which case. */
async function named(name: string, run: Promise<void>): Promise<void> {
  try {
    await run;
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

const LINES = 40;
const SLOWLY = ["sh", "-c", `n=0; while [ $n -lt ${LINES} ]; do n=$((n + 1)); echo "line $n"; sleep 0.02; done`];
const ALL = Array.from({ length: LINES }, (_, index) => `line ${index + 1}\n`).join("");

/** Compares all that a program says while the world does what it does at the tenth record of the executor. */
async function counted(world: TestWorld, client: ExecClient, act: () => void): Promise<void> {
  let seen = 0;
  world.rendezvous.intercept = ({ direction, view }) => {
    if (direction === "toHarness" && view?.kind === "data" && ++seen === 10) act();
  };
  await using process = await client.start({ argv: SLOWLY });
  assert.equal(await new Response(process.stdout).text(), ALL);
  assert.equal((await process.exited).code, 0);
  assert.equal(world.registry.requestsOf("connect").length > 1, true, "there was a loss");
}

const RELAY_RUNS: readonly (readonly [what: string, run: (world: TestWorld) => Promise<void>])[] = [
  ["large messages both ways", async (world) => {
    await using client = await connectRelay(relayOf(world));
    const text = "0123456789".repeat(40_000);
    await using process = await client.start({ argv: ["cat"], stdin: true });
    await process.write(text);
    const reader = process.stdout.getReader();
    let [bytes, decoder] = ["", new TextDecoder()];
    while (bytes.length < text.length) bytes += decoder.decode((await reader.read()).value, { stream: true });
    assert.equal(bytes, text);
    await process.terminate();
    assert.equal(world.relayedHas(text.slice(0, 60)), false, "plain text was relayed");
  }],
  ["the harness's socket is cut during a command", async (world) => {
    await using client = await connectRelay(relayOf(world));
    await counted(world, client, () => world.rendezvous.cut("harness"));
  }],
  ["the executor's socket is cut during a command", async (world) => {
    await using client = await connectRelay(relayOf(world));
    await counted(world, client, () => world.rendezvous.cut("executor"));
  }],
  ["the executor's upgrade is refused, and it registers anew", async (world) => {
    await using client = await connectRelay(relayOf(world));
    await counted(world, client, () => {
      world.rendezvous.refuse("executor", { status: 410 });
      world.rendezvous.cut("executor");
    });
    assert.equal(world.registry.requestsOf("register").length, 2);
  }],
  ["the registry refuses the executor's credentials", async (world) => {
    world.registry.always("validate", { status: 401 });
    await assert.rejects(connectRelay(relayOf(world)), { message: /executor credentials rejected/ });
    assert.equal(world.registry.requestsOf("validate").length, 1);
  }],
  ["the registry does not authorize the harness", async (world) => {
    world.registry.always("validate", { body: { valid: false } });
    await assert.rejects(connectRelay(relayOf(world)), { name: "ClientError" });
  }],
  ["another executor is at the environment after a loss", async (world) => {
    await using client = await connectRelay(relayOf(world));
    world.registry.always("connect", { but: { executor_public_key: ANOTHER_KEY } });
    world.rendezvous.cut("harness");
    await eventually("the client has ended", () => assert.equal(client.state, "failed"));
    assert.match(client.failure!.message, /executor key changed during session recovery/);
    assert.equal(world.rendezvous.framesOf("toExecutor").filter(({ view }) => view.kind === "handshake").length, 1);
  }],
];
