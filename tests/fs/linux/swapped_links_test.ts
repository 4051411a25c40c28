/** Another process swaps a directory for a link while trees are removed and copied: nothing outside is touched. */

import assert from "node:assert/strict";
import { copy } from "../../../lib/fs/linux/copy.ts";
import { remove } from "../../../lib/fs/linux/remove.ts";
import type { MaybePromise } from "../../../lib/fs/operations.ts";
import { never, Scratch } from "../scratch.ts";
import { clear, Swapper } from "./swapper.ts";
import { lines, linesOf, plant, thinSlices, type Tree, treeOf, wholeSlice } from "./trees.ts";

const ignore = Deno.build.os !== "linux";

/** How often a tree is made, and removed or copied. */
const ROUNDS = 30;

/** A directory with two dozen files and directories, all of the same content. */
function branches(content: string): Tree {
  const files = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`f${index}`, content]));
  return treeOf({ branch: { ...files, d: files, e: files }, x: content });
}

/** Plants a tree in one go, so that the swapper finds the whole of it. */
function plantAtOnce(scratch: Scratch, name: string, tree: Tree): void {
  plant(`${scratch.root}/new`, tree);
  Deno.renameSync(`${scratch.root}/new`, `${scratch.root}/${name}`);
}

/** How work ended; whoever meets a link, or misses a directory that has been put aside, may fail. */
async function endOf(work: () => MaybePromise<void>): Promise<string> {
  try {
    await work();
    return "done";
  } catch (error) {
    return (error as Error).message;
  }
}

const slice = (round: number) => round % 2 === 0 ? thinSlices().slice : wholeSlice();

Deno.test("nothing is removed behind a link that is swapped in", { ignore }, async () => {
  using scratch = new Scratch();
  plant(`${scratch.root}/outside`, branches("outside"));
  await using _swapper = await Swapper.start(scratch, "tree/branch", "outside/branch");
  const options = { recursive: true, force: true, followSymlinks: true };
  for (let round = 0; round < ROUNDS; round++) {
    plantAtOnce(scratch, "tree", branches("inside"));
    await endOf(() => remove(scratch.path("tree"), options, slice(round), never));
    assert.deepEqual(linesOf(`${scratch.root}/outside`), lines(branches("outside")));
    clear(scratch, "tree", "aside");
  }
});

Deno.test("nothing is copied from behind a link that is swapped in", { ignore }, async () => {
  using scratch = new Scratch();
  plant(`${scratch.root}/outside`, branches("secret"));
  plant(`${scratch.root}/source`, branches("inside"));
  await using _swapper = await Swapper.start(scratch, "source/branch", "outside/branch");
  for (let round = 0; round < ROUNDS; round++) {
    await endOf(() => copy(scratch.path("source"), scratch.path("copy"), true, slice(round), never));
    const secrets = linesOf(`${scratch.root}/copy`).filter((line) => line.includes("secret"));
    assert.deepEqual(secrets, []);
    clear(scratch, "copy");
  }
});

Deno.test("nothing is copied to behind a link that is swapped in", { ignore }, async () => {
  using scratch = new Scratch();
  plant(`${scratch.root}/outside`, branches("outside"));
  plant(`${scratch.root}/source`, branches("new"));
  await using _swapper = await Swapper.start(scratch, "copy/branch", "outside/branch");
  for (let round = 0; round < ROUNDS; round++) {
    plantAtOnce(scratch, "copy", branches("old"));
    await endOf(() => copy(scratch.path("source"), scratch.path("copy"), true, slice(round), never));
    assert.deepEqual(linesOf(`${scratch.root}/outside`), lines(branches("outside")));
    clear(scratch, "copy", "aside");
  }
});
