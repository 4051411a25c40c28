import assert from "node:assert/strict";
import { launcherCommand } from "../../lib/sandbox/launcher_command.ts";
import { PROBE_WORD, probeCommand } from "../../lib/sandbox/probe_command.ts";
import { VERSION } from "../../lib/version.ts";

const host = { program: "/opt/program", variable: () => undefined };

Deno.test("The compiled program is told by a word to be its probe", () => {
  assert.deepEqual(probeCommand({ ...host, isCompiled: true }).argv, ["/opt/program", `${PROBE_WORD}=${VERSION}`]);
});

Deno.test("Under deno run the probe is a module that is started like the launcher", () => {
  const { argv, env } = probeCommand({ ...host, isCompiled: false });
  const launcher = launcherCommand({ ...host, isCompiled: false });
  assert.deepEqual(env, launcher.env);
  assert.deepEqual(argv.slice(0, -1), launcher.argv.slice(0, -2));
  assert.equal(argv.at(-1), new URL("../../lib/sandbox/probe/main.ts", import.meta.url).href);
  assert.ok(Deno.statSync(new URL(argv.at(-1)!)).isFile);
});

Deno.test({
  name: "the probe is of no use to anybody who has no attempts to make, as the program or by its word",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const main = new URL("../../main.ts", import.meta.url).pathname;
    const { argv: [program, ...own], env } = probeCommand();
    const word = ["run", "--no-config", "--no-lock", "--no-prompt", "--allow-all", main, PROBE_WORD];
    for (const args of [own, [...own, "[]"], [...own, "[{"], word, [...word, "--help"]]) {
      const { code, stdout, stderr } = await new Deno.Command(program!, { args, env }).output();
      assert.deepEqual([code, stdout.length], [126, 0], args.join(" "));
      assert.equal(
        new TextDecoder().decode(stderr),
        "sandbox: this is a part of the server that it starts itself; it is not for use by hand\n",
      );
    }
  },
});
