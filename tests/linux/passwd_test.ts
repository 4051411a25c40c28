import assert from "node:assert/strict";
import { passwordEntry, realUserId } from "../../lib/linux/passwd.ts";

Deno.test("the password database tells a user's home and shell", async () => {
  const { stdout } = await new Deno.Command("getent", { args: ["passwd", "0"] }).output();
  const [, , , , , home, shell] = new TextDecoder().decode(stdout).trim().split(":");
  assert.deepEqual(passwordEntry(0), { home, shell });
});

Deno.test("a user that nobody knows has no entry", () => {
  assert.equal(passwordEntry(4_000_000_001), null);
});

Deno.test("we run under the user that the runtime says", () => {
  assert.equal(realUserId(), Deno.uid());
});
