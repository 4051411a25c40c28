/** What the relay alone can do to a harness, and what the model is told of it. */
import assert from "node:assert/strict";
import type { Outcome } from "../../codex/codex_run.ts";
import { inOrder, run } from "../../codex/sayings.ts";
import type { Scenario } from "../../codex/scenario.ts";
import type { TestWorld } from "../support/world.ts";

export interface RelayCase {
  readonly scenario: Scenario;
  /** Makes the world as bad as the case wants it; the executor is connected, the harness not yet. */
  prepare(world: TestWorld): void;
  /** How often the registry must have been asked what. */
  readonly asked: Readonly<Record<string, number>>;
}

const NOTHING_USABLE = /^No usable execution environment is available/;
/** Output that takes a while and is numbered: nothing of it may be lost or come twice. */
const SLOW_COUNT = 'i=0; while [ $i -lt 40 ]; do i=$((i + 1)); echo "$i of 40"; sleep 0.05; done';
const COUNTED = Array.from({ length: 40 }, (_, index) => `${index + 1} of 40\n`).join("");

/** Calls `act` once, with the `count`th record that an executor sends. */
function atRecord(world: TestWorld, count: number, act: () => void): void {
  let seen = 0;
  world.rendezvous.intercept = ({ direction, view }) => {
    if (direction === "toHarness" && view?.kind === "data" && ++seen === count) act();
  };
}

/** Well-formed, and nobody's: all coefficients of the ML-KEM key are zero. */
export const ANOTHER_KEY = {
  suite: "Noise_hybridIK_X25519+MLKEM768_AESGCM_SHA256",
  x25519_public_key: new Uint8Array(32).fill(9).toBase64(),
  mlkem768_public_key: new Uint8Array(1184).toBase64(),
};

function counts(name: string, check: (outcome: Outcome) => void): Scenario {
  return { name, script: () => inOrder([run(SLOW_COUNT)]), check };
}

function allCounted({ answers }: Outcome): void {
  assert.deepEqual(answers, [{ tool: "exec_command", state: "exited with code 0", output: COUNTED }]);
}

function nothingRun({ answers }: Outcome): void {
  assert.match(answers[0]!.output, NOTHING_USABLE);
}

export const RELAY_CASES: readonly RelayCase[] = [
  {
    scenario: counts("the harness's connection is cut during a command", allCounted),
    prepare: (world) => atRecord(world, 20, () => world.rendezvous.cut("harness")),
    asked: { register: 1, connect: 2, validate: 2 },
  },
  {
    scenario: counts("the executor's connection is cut during a command", allCounted),
    prepare: (world) => atRecord(world, 20, () => world.rendezvous.cut("executor")),
    asked: { register: 1 },
  },
  {
    scenario: counts("the registry refuses the executor's credentials at a handshake", nothingRun),
    prepare: (world) => world.registry.always("validate", { status: 401 }),
    // The harness is told, and asks no more.
    asked: { register: 1, connect: 1, validate: 1 },
  },
  {
    scenario: counts("the registry does not authorize the harness", nothingRun),
    prepare: (world) => world.registry.always("validate", { body: { valid: false } }),
    asked: { register: 1 },
  },
  {
    scenario: counts("another executor is at the environment after a cut", ({ answers }) => {
      assert.match(answers[0]!.output, /executor key changed during session recovery/);
    }),
    prepare: (world) => {
      atRecord(world, 20, () => {
        world.registry.always("connect", { but: { executor_public_key: ANOTHER_KEY } });
        world.rendezvous.cut("harness");
      });
    },
    asked: { register: 1, validate: 1 },
  },
];
