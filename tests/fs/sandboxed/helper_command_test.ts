import assert from "node:assert/strict";
import { helperCommand } from "../../../lib/fs/sandboxed/helper_command.ts";
import { VERSION } from "../../../lib/version.ts";
import { loadedWith } from "../../support/loaded_with.ts";

const variable = () => undefined;

Deno.test("the helper is a module of its own, or a word to ourselves where all is one executable", () => {
  const alone = helperCommand({ isCompiled: false, program: "/bin/deno", variable });
  assert.equal(alone.argv[0], "/bin/deno");
  assert.match(alone.argv.at(-2)!, /^file:\/\/.*\/lib\/fs\/sandboxed\/helper\/main\.ts$/);
  assert.equal(alone.argv.at(-1), "3");
  const compiled = helperCommand({ isCompiled: true, program: "/bin/exec-server", variable });
  assert.deepEqual(compiled, { argv: ["/bin/exec-server", `__files-helper=${VERSION}`, "3"], env: {} });
});

Deno.test("the helper loads what works on files and what makes views, and nothing else", async () => {
  const loaded = (await loadedWith("lib/fs/sandboxed/helper/main.ts")).map((url) => url.split("/lib/")[1]!);
  const allowed = [
    /^linux\//,
    /^fs\/linux\//,
    /^fs\/sandboxed\/(helper\/\w+|messages)\.ts$/,
    /^fs\/\w+\.ts$/,
    /^sandbox\/launcher\//,
    /^sandbox\/(byte_path|landlock_version)\.ts$/,
    /^\w+\.ts$/,
  ];
  assert.deepEqual(loaded.filter((path) => !allowed.some((pattern) => pattern.test(path))), []);
  for (const path of ["linux/poller.ts", "linux/posix_spawn.ts", "fs/linux/watch_missing.ts"]) {
    assert.ok(!loaded.includes(path), path);
  }
});

Deno.test({
  name: "the helper is of no use to anybody who has no connection to the server",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const { argv, env } = helperCommand();
    for (const [redirection, word] of [["", "3"], ["3</dev/null", "3"], ["4<&0", "4"], ["", "--help"]]) {
      const args = ["-c", `exec "$@" ${redirection}`, "sh", ...argv.slice(0, -1), word!];
      const { code, stdout, stderr } = await new Deno.Command("/bin/sh", { args, env, stdin: "null" }).output();
      assert.equal(code, 126);
      assert.equal(stdout.length, 0);
      const said = new TextDecoder().decode(stderr);
      assert.equal(said, "sandbox: this is a part of the server that it starts itself; it is not for use by hand\n");
    }
  },
});
