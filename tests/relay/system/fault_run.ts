/** Clients at work behind a rendezvous that does whatever it likes to their frames, by chance that can be repeated. */
import assert from "node:assert/strict";
import type { ExecClient } from "../../../lib/client/client.ts";
import { ClientError } from "../../../lib/client/client_error.ts";
import { inTime } from "../../program/eventually.ts";
import { Random } from "../../program/random.ts";
import { allOf } from "../support/all_of.ts";
import type { FaultRates } from "../support/faults.ts";
import type { TestRendezvous } from "../support/rendezvous.ts";
import { Rig } from "../support/rig.ts";

/** No run takes this long unless something hangs. */
const PATIENCE_MS = 60_000;
/** When nothing has been relayed for so long, a harness is cut off: a record that was lost is never repeated. */
const SILENCE_MS = 200;
const CLIENTS = 3;
const COMMANDS = 4;
/** After so many connections the rendezvous is a good one, so that every run has an end. */
const BAD_CONNECTIONS = 12;

export interface Tally {
  /** Commands whose end was told, and those of which nobody knows. */
  told: number;
  unknown: number;
  /** Connections of harnesses. */
  connections: number;
}

/** @throws {Error} What must not happen, with the seed of the run. */
export async function faultRun(seed: number): Promise<Tally> {
  try {
    return await inTime("the end of the run", run(new Random(seed)), PATIENCE_MS);
  } catch (error) {
    throw new Error(`run with seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

async function run(random: Random): Promise<Tally> {
  const directory = await Deno.makeTempDir({ prefix: "exec-server-faults-" });
  const file = `${directory}/ran`;
  const tally: Tally = { told: 0, unknown: 0, connections: 0 };
  const marker = `marker-${crypto.randomUUID()}`;
  try {
    await using rig = await Rig.start({ seed: random.below(2 ** 31), faults: rates(random) });
    using _watch = new SilenceWatch(rig.world.rendezvous);
    rig.world.rendezvous.intercept = () => {
      if (rig.world.rendezvous.peers.length > BAD_CONNECTIONS) rig.world.rendezvous.faults = {};
    };
    await allOf(Array.from({ length: CLIENTS }, async (_, place) => {
      await using client = await connectAtLast(rig);
      for (let command = 0; command < COMMANDS; command++) {
        const name = `${marker} ${place}.${command}`;
        if (await works(client, file, name, 1 + random.below(20_000))) tally.told++;
        else tally.unknown++;
      }
    }));
    tally.connections = rig.world.rendezvous.peers.filter(({ role }) => role === "harness").length;
    assert.equal(rig.world.relayedHas(marker), false, "plain text was relayed");
    const executors = rig.world.rendezvous.peers.filter(({ role }) => role === "executor").length;
    assert.equal(executors, 1, "what is wrong with a stream does not end the socket");
  } finally {
    const ran = (await Deno.readTextFile(file).catch(() => "")).split("\n").filter((line) => line !== "");
    await Deno.remove(directory, { recursive: true });
    assert.equal(new Set(ran).size, ran.length, `a command has run twice: ${ran}`);
    assert.ok(ran.length >= tally.told && ran.length <= tally.told + tally.unknown, "commands are counted");
  }
  return tally;
}

/** Up to three kinds of trouble, and an end of them for each stream. */
function rates(random: Random): FaultRates {
  const kinds = ["loss", "duplication", "reordering", "delay", "bitFlips", "swaps", "replays"] as const;
  const chosen = Array.from({ length: 1 + random.below(3) }, () => kinds[random.below(kinds.length)]!);
  const shares = chosen.map((kind) => [kind, [0.02, 0.1, 0.3][random.below(3)]!]);
  return { ...Object.fromEntries(shares), spared: random.below(4), most: 1 + random.below(4) };
}

/** @returns Whether the command's end was told; if so all that it printed was, once and in order. */
async function works(client: ExecClient, file: string, name: string, lines: number): Promise<boolean> {
  const script = 'echo "$0" >> "$1"; seq 1 "$2"';
  try {
    const { stdoutText, code } = await client.run({ argv: ["sh", "-c", script, name, file, String(lines)] });
    assert.equal(code, 0);
    assert.equal(stdoutText, Array.from({ length: lines }, (_, index) => `${index + 1}\n`).join(""));
    return true;
  } catch (error) {
    if (!(error instanceof ClientError) || error.kind !== "disconnected" || client.state === "failed") throw error;
    return false;
  }
}

/** The first connection is tried once by a client, and again by us. */
async function connectAtLast(rig: Rig): Promise<ExecClient> {
  for (let attempt = 1;; attempt++) {
    try {
      return await rig.connect();
    } catch (error) {
      if (!(error instanceof ClientError) || attempt === 30) throw error;
    }
  }
}

/** Cuts a harness off when nothing moves any more. */
class SilenceWatch implements Disposable {
  readonly #timer: ReturnType<typeof setInterval>;
  #seen = -1;

  constructor(rendezvous: TestRendezvous) {
    this.#timer = setInterval(() => {
      const { length } = rendezvous.relayed;
      if (length === this.#seen) { for (const { socket } of rendezvous.open("harness")) socket.cut(); }
      this.#seen = length;
    }, SILENCE_MS);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
