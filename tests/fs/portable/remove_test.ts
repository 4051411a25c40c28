import assert from "node:assert/strict";
import { remove } from "../../../lib/fs/portable/remove.ts";
import { bytesOf, never, Scratch } from "../scratch.ts";

/** Removes nothing. */
class Recorder {
  readonly removed: string[] = [];
  readonly remove = (path: string, { recursive }: { readonly recursive: boolean }): Promise<void> => {
    this.removed.push(`${path} ${recursive}`);
    return Promise.resolve();
  };
}

const recursive = { recursive: true, force: true, followSymlinks: true };

Deno.test("the root directory is never removed with its content", async () => {
  const recorder = new Recorder();
  const act = (path: string, options = recursive) => remove(bytesOf(path), options, never, recorder.remove);
  await assert.rejects(act("/"), { kind: "invalidRequest", message: "refusing to remove the root directory" });
  await assert.rejects(act("/proc/self/root/."), { message: "refusing to remove the root directory" });
  await assert.rejects(act("/", { ...recursive, recursive: false, followSymlinks: false }), {
    message: "path must name an entry",
  });
  assert.deepEqual(recorder.removed, []);
});

Deno.test("only a directory is removed with its content", async () => {
  using scratch = new Scratch();
  const recorder = new Recorder();
  scratch.directory("d");
  scratch.write("f", "");
  scratch.link("l", "d");
  for (const name of ["d", "f", "l"]) await remove(scratch.path(name), recursive, never, recorder.remove);
  const flags = recorder.removed.map((line) => line.slice(scratch.root.length + 1));
  assert.deepEqual(flags, ["d true", "f false", "l false"]);
});
