import assert from "node:assert/strict";
import { ClientError } from "../../../lib/client/client_error.ts";
import type { ExecClient } from "../../../lib/client/client.ts";
import { inTime } from "../../program/eventually.ts";
import { announcedSeed, Random } from "../../program/random.ts";
import { resetFrame } from "../support/frame_view.ts";
import type { Relayed } from "../support/rendezvous.ts";
import { relayTest, Rig } from "../support/rig.ts";

/** Sessions that suffer at the same time. */
const AT_ONCE = 8;
/** That many frames a session has at least; else it does not say what it should. */
const FEWEST_FRAMES = 20;
const LINES = ["one", "two", "three", "four", "five"];
/** Says that it runs, by a line in a file, and answers each line that it reads. */
const SCRIPT = `echo "$0" >> "$1"; for n in 1 2 3 4 5; do read line; echo "got $line"; done; exit 7`;

type Cut = (rig: Rig, frame: Relayed) => void;

const CUTS: Readonly<Record<string, Cut>> = {
  "the harness's socket is cut": ({ world }) => world.rendezvous.cut("harness"),
  "the executor's socket is cut": ({ world }) => world.rendezvous.cut("executor"),
  "both are told of a reset": ({ world }, { view, peer: { registrationId } }) => {
    const reset = resetFrame(view!.streamId);
    for (const { socket } of world.rendezvous.open("harness")) socket.send(reset);
    world.rendezvous.inject(registrationId, reset);
  },
};

for (const [what, cut] of Object.entries(CUTS)) {
  relayTest(`wherever in a session it happens that ${what}, nothing is lost and nothing runs twice`, async () => {
    const random = new Random(announcedSeed(what));
    let [frames, isOver] = [0, false];
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      while (!isOver) {
        const [place, passes] = [frames++, random.below(2) === 0];
        try {
          if (!await cutAfter(place, passes, cut)) isOver = true;
        } catch (error) {
          isOver = true;
          throw new Error(`after ${place} frames, the next one ${passes ? "passes" : "is lost"}`, { cause: error });
        }
      }
    }));
    assert.ok(frames > FEWEST_FRAMES, "it happened at every frame");
  });
}

/**
 * One session.
 *
 * @param passes Whether the frame at which it happens is still delivered.
 * @returns Whether there were so many frames.
 */
async function cutAfter(frames: number, passes: boolean, cut: Cut): Promise<boolean> {
  const file = await Deno.makeTempFile({ prefix: "exec-server-cut-" });
  try {
    await using rig = await Rig.start();
    let seen = 0;
    rig.world.rendezvous.intercept = (frame) => {
      if (seen++ !== frames) return true;
      cut(rig, frame);
      return passes;
    };
    await using client = await connected(rig);
    const told = await converse(client, file);
    const ran = (await Deno.readTextFile(file)).split("\n").filter((line) => line !== "");
    assert.equal(new Set(ran).size, ran.length, `a command has run twice: ${ran}`);
    assert.ok(ran.includes(told));
    assert.equal(client.failure, undefined);
    return seen > frames;
  } finally {
    await Deno.remove(file);
  }
}

/** A first connection that is lost is not followed by another of itself. */
async function connected(rig: Rig): Promise<ExecClient> {
  for (;;) {
    try {
      return await inTime("a connection", rig.connect());
    } catch (error) {
      if (!(error instanceof ClientError && error.retryable)) throw error;
    }
  }
}

/** Talks with a program. @returns The name of the one that answered; those whose start was not answered may have run. */
async function converse(client: ExecClient, file: string): Promise<string> {
  for (let attempt = 1;; attempt++) {
    const name = `program ${attempt}`;
    try {
      await using process = await client.start({ argv: ["sh", "-c", SCRIPT, name, file], stdin: true });
      const output = new Response(process.stdout).text();
      output.catch(() => {}); // whoever waits for it hears of it
      for (const line of LINES) await inTime("a write", process.write(`${line}\n`));
      assert.equal(await inTime("the output", output), LINES.map((line) => `got ${line}\n`).join(""));
      assert.equal((await process.exited).code, 7);
      return name;
    } catch (error) {
      if (!(error instanceof ClientError && error.kind === "disconnected") || attempt === 3) throw error;
    }
  }
}
