import assert from "node:assert/strict";
import { removeAtOnce, Scratch } from "./scratch.ts";

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test("Scratch is removed with its scope, whatever is in it", async () => {
  let directory = "";
  {
    await using scratch = await Scratch.make();
    directory = scratch.directory;
    await Deno.mkdir(scratch.path("a/b"), { recursive: true });
    await Deno.writeTextFile(new URL(scratch.uri("a/b/c d")), "text");
    assert.equal(await Deno.readTextFile(scratch.path("a/b/c d")), "text");
  }
  assert.equal(await exists(directory), false);
});

Deno.test("removeAtOnce removes what no scope could remove any more, and what is not there", async () => {
  const directory = await Deno.makeTempDir();
  await Deno.writeTextFile(`${directory}/file`, "text");
  removeAtOnce(directory);
  assert.equal(await exists(directory), false);
  removeAtOnce(directory);
});

Deno.test("hasRoom says what is left out, how much it needs and how much there is", async () => {
  await using scratch = await Scratch.make();
  const said: string[] = [];
  assert.equal(scratch.hasRoom(0, "nothing", (text) => said.push(text)), true);
  assert.equal(said.length, 0);
  assert.equal(scratch.hasRoom(1e18, "an exabyte", (text) => said.push(text)), false);
  assert.match(said.join(), /^an exabyte left out: 1000000000\.0 GB needed in \/.*, \d+\.\d GB free$/);
});
