import assert from "node:assert/strict";
import { commandPages } from "../../scripts/command_pages.ts";

const FOLDER = new URL("../../docs/commands/", import.meta.url);

Deno.test("every command has a page in docs/commands, made from its table", async () => {
  const pages = await commandPages();
  const files = [...Deno.readDirSync(FOLDER)].map(({ name }) => name);
  assert.deepEqual(files.sort(), [...pages.keys()].sort());
  for (const [name, page] of pages) {
    assert.equal(await Deno.readTextFile(new URL(name, FOLDER)), page, `${name} is old: run deno task pages`);
  }
});
