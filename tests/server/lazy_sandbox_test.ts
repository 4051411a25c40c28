import assert from "node:assert/strict";
import { loadedWith } from "../support/loaded_with.ts";

/** What a start needs of the sandbox: words, paths, and the promise to load the rest. */
const LIGHT = [
  "back_end_choice",
  "byte_path",
  "confine_program",
  "hidden_word",
  "launcher_command",
  "lazy_sandbox",
  "mount_point_record_path",
  "probe_command",
];

function ofSandbox(loaded: readonly string[]): string[] {
  return loaded.flatMap((url) => url.match(/\/lib\/sandbox\/(.*)\.ts$/)?.[1] ?? []);
}

for (const path of ["main.ts", "lib/server/mod.ts", "lib/server/serve.ts", "lib/local/mod.ts"]) {
  Deno.test(`nothing that enforces sandboxes is loaded with ${path}`, async () => {
    const loaded = await loadedWith(path);
    assert.ok(loaded.length > 10, "the graph was read");
    assert.deepEqual(ofSandbox(loaded).filter((name) => !LIGHT.includes(name)), []);
  });
}

Deno.test("the way to the hidden parts loads nothing else", async () => {
  const loaded = (await loadedWith("lib/server/hidden_parts.ts")).map((url) =>
    url.split("/lib/")[1] ?? url.split("/").at(-1)
  );
  assert.deepEqual(loaded.toSorted(), [
    "deno.json", // the version
    "fs/sandboxed/helper_word.ts",
    "sandbox/hidden_word.ts",
    "sandbox/launcher_command.ts",
    "sandbox/probe_command.ts",
    "server/hidden_parts.ts",
    "version.ts",
  ]);
});
