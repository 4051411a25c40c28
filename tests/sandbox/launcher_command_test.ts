import assert from "node:assert/strict";
import { LAUNCHER_WORD, launcherCommand } from "../../lib/sandbox/launcher_command.ts";
import { VERSION } from "../../lib/version.ts";

Deno.test("a compiled program starts itself with the hidden word and its version", () => {
  const host = { isCompiled: true, program: "/opt/exec-server", variable: () => "x" };
  assert.deepEqual(launcherCommand(host), { argv: ["/opt/exec-server", `${LAUNCHER_WORD}=${VERSION}`, "3"], env: {} });
});

Deno.test("under deno run the launcher's own module is run, with nothing of our environment but the cache's place", () => {
  const variables: Record<string, string> = { HOME: "/home/u", SECRET: "s" };
  const { argv, env } = launcherCommand({
    isCompiled: false,
    program: "/bin/deno",
    variable: (name) => variables[name],
  });
  assert.deepEqual(argv.slice(0, 2), ["/bin/deno", "run"]);
  assert.equal(argv.at(-2), new URL("../../lib/sandbox/launcher/main.ts", import.meta.url).href);
  assert.equal(argv.at(-1), "3");
  assert.deepEqual(env, { DENO_NO_UPDATE_CHECK: "1", HOME: "/home/u" });
});
