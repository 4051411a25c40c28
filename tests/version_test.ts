import assert from "node:assert/strict";
import config from "../deno.json" with { type: "json" };

const MAIN = new URL("../main.ts", import.meta.url).pathname;

Deno.test("the program tells the version of the package, from wherever it is started", async () => {
  const args = ["run", "-A", MAIN, "--version"];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args, cwd: "/", stderr: "inherit" }).output();
  assert.equal(new TextDecoder().decode(stdout), `exec-server ${config.version}\n`);
});
