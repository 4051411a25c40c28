/** The same random conversations through a relay with the reference's executor and with ours. */
import fc from "fast-check";
import { relayCarrier } from "../../../lib/client/relay_carrier.ts";
import { Duel } from "../../interop/duel.ts";
import { scenarios } from "../../interop/scenario.ts";
import { Side } from "../../interop/side.ts";
import { OUR_RULES } from "../../wire/differences.ts";
import { show } from "../../wire/mismatch.ts";
import { Program } from "../../wire/program.ts";
import { Workspace } from "../../wire/workspace.ts";
import { API_KEY, isolated } from "../support/remote_program.ts";
import { TestWorld } from "../support/world.ts";
import type { Programs } from "./codex_harness.ts";
import { connected } from "./reach.ts";
import { RelayBridge } from "./relay_bridge.ts";
import type { Run } from "./run.ts";

const ENVIRONMENT_ID = "environment of tests";
const CONVERSATIONS = 60;

export function randomRuns({ reference, ours, seed }: Programs & { readonly seed: number }): Run[] {
  return [{
    title: `${CONVERSATIONS} random conversations with both executors, seed ${seed}`,
    async run() {
      await using workspace = await Workspace.create();
      await using theirs = await throughRelay("the reference", reference, workspace);
      await using own = await throughRelay("our program", ours, workspace);
      const duel = new Duel(theirs, own, OUR_RULES);
      const property = fc.asyncProperty(scenarios, (scenario) => duel.play(scenario));
      const { failed, counterexample, counterexamplePath, errorInstance } = await fc.check(property, {
        seed,
        numRuns: CONVERSATIONS,
      });
      if (!failed) return;
      const why = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
      throw new Error(`at ${counterexamplePath}: ${show(JSON.stringify(counterexample?.[0], null, 2))}\n${why}`);
    },
  }];
}

/** An executor behind a relay of its own, which is reached over WebSocket. */
async function throughRelay(name: string, words: readonly string[], workspace: Workspace): Promise<Side> {
  await using resources = new AsyncDisposableStack();
  const world = resources.use(TestWorld.start({ recording: false }));
  const { registryUrl: registry } = world;
  const executor = resources.use(
    new Program({
      words: [...words, "--remote", registry, "--environment-id", ENVIRONMENT_ID],
      cwd: workspace.cwd,
      env: { ...isolated(workspace.home), ...workspace.environment(), CODEX_API_KEY: API_KEY },
      stdin: "null",
    }),
  );
  await connected(world, executor);
  const bridge = resources.use(new RelayBridge(relayCarrier({ registry, environmentId: ENVIRONMENT_ID, token: "t" })));
  const owned = resources.move();
  return Side.at({ name, words, workspace }, {
    url: bridge.url,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  });
}
