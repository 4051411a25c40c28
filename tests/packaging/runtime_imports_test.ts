import assert from "node:assert/strict";
import config from "../../deno.json" with { type: "json" };
import { runtimeImports } from "../../scripts/compile/runtime_imports.ts";

const PROJECT = new URL("../../", import.meta.url).pathname;

Deno.test("what only tests and scripts import is not embedded, what is imported when it is needed is", async () => {
  const imports = await runtimeImports(config.imports, [`${PROJECT}main.ts`, `${PROJECT}lib`]);
  const left = Object.keys(config.imports).filter((name) => !(name in imports));
  assert.deepEqual(left, ["fast-check", "typescript"]);
  assert.equal(imports["@lydell/node-pty"], config.imports["@lydell/node-pty"]);
});
