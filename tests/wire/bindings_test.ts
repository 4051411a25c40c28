import assert from "node:assert/strict";
import { Bindings } from "./bindings.ts";
import { Workspace } from "./workspace.ts";

const ID = "67e55044-10b1-426f-9247-bb680e5fe0c8";
const OTHER_ID = "0d1f2c33-10b1-426f-9247-bb680e5fe0c8";

Deno.test("a placeholder takes the first value that fits and holds it", async () => {
  await using workspace = await Workspace.create();
  const bindings = new Bindings(workspace);
  assert.equal(bindings.match("session <sessionId>!", "session x!"), false);
  assert.equal(bindings.match("session <sessionId>!", `session ${ID}!`), true);
  assert.equal(bindings.match("<sessionId>", OTHER_ID), false);
  assert.equal(bindings.match("<sessionId2>", OTHER_ID), true);
  assert.equal(await bindings.fill("resume <sessionId> in <cwd>"), `resume ${ID} in ${workspace.cwd}`);
});

Deno.test("text without placeholders is compared letter by letter", async () => {
  await using workspace = await Workspace.create();
  const bindings = new Bindings(workspace);
  assert.equal(bindings.match("a.c (x)", "a.c (x)"), true);
  assert.equal(bindings.match("a.c", "abc"), false);
  assert.equal(bindings.match("'--ws-auth <MODE>'", "'--ws-auth <MODE>'"), true);
});

Deno.test("a session that was never opened gets an id of its own", async () => {
  await using workspace = await Workspace.create();
  const bindings = new Bindings(workspace);
  const filled = await bindings.fill("<sessionId>");
  assert.match(filled, /^[0-9a-f-]{36}$/);
  assert.equal(bindings.match("<sessionId>", filled), true);
});
