import assert from "node:assert/strict";
import { workingDirectory } from "../../../lib/process/linux/machine.ts";

Deno.test("our directory is named, and its absence told as a start that found nothing", async () => {
  const before = Deno.cwd();
  assert.equal(workingDirectory(), before);
  const dir = await Deno.makeTempDir();
  try {
    Deno.chdir(dir);
    await Deno.remove(dir);
    assert.throws(workingDirectory, { kind: "spawnNotFound", message: "No such file or directory (os error 2)" });
  } finally {
    Deno.chdir(before);
  }
});
