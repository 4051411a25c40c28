import assert from "node:assert/strict";
import { loadedWith } from "../support/loaded_with.ts";

for (const path of ["main.ts", "lib/server/mod.ts", "lib/client/mod.ts"]) {
  Deno.test(`nothing of the relay, of Node and of npm is loaded with ${path}`, async () => {
    const loaded = await loadedWith(path);
    assert.ok(loaded.length > 10, "the graph was read");
    assert.deepEqual(loaded.filter((name) => /\/lib\/relay\/|^(node|npm):/.test(name)), []);
  });
}
