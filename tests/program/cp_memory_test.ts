import assert from "node:assert/strict";
import type { CommandLine } from "./command_line.ts";
import { testBothSides } from "./command_sides.ts";
import { inTime } from "./eventually.ts";
import { shell } from "./files_of_user.ts";
import { peakMemory } from "./peak_memory.ts";

const MB = 1_000_000;
/** Whoever held the file would need that for it, and a third more for its base64. */
const FILE_BYTES = 240 * MB;
/** Blocks on their way and what waits for a reader, and what waits for the next collection. */
const SLACK_BYTES = 160 * MB;
const PATIENCE_MS = 120_000;
/** What waits for collection counts as well, and is collected late where others use the machine: not later than this. */
const HEAP = "--max-old-space-size=64,--max-semi-space-size=8";

async function peakOf(user: CommandLine, argv: readonly string[]): Promise<number> {
  const child = user.spawn(argv, { env: { DENO_V8_FLAGS: HEAP } });
  await child.stdin.close();
  const output = child.output();
  const peak = peakMemory(child.pid, output);
  const { code, stderr } = await inTime("the end of the copy", output, PATIENCE_MS);
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  return await peak;
}

testBothSides("cp needs no more memory for a large file, or a large tree, than for a small one", async (scene) => {
  const { user, connect, extended } = scene;
  const { home } = user;
  await shell(user, `mkdir tree; echo x > small; truncate -s ${FILE_BYTES} large; cp --sparse=always large tree/large`);
  // Short ones are looked at but a few times, so one look may come too early to see the most.
  let usual = 0;
  for (let run = 0; run < 3; run++) {
    usual = Math.max(usual, await peakOf(user, ["cp", ...connect, "small", `env:${home}/far`]));
  }
  assert.ok(usual > 20 * MB, "the measure measures");
  const files = [["large", `env:${home}/far`], [`env:${home}/large`, "back"]];
  const trees = [["tree", `env:${home}/fartree`], [`env:${home}/tree`, "backtree"]];
  // Files go the same way to every server.
  for (const operands of extended ? [...files, ...trees] : trees) {
    const peak = await peakOf(user, ["cp", ...connect, ...operands]);
    assert.ok(peak < usual + SLACK_BYTES, `${operands.join(" ")}: ${peak / MB} MB instead of ${usual / MB} MB`);
    await shell(user, "rm -rf far back fartree backtree");
  }
});
