import assert from "node:assert/strict";
import { parseServeOptions } from "../../lib/cli/serve_options.ts";
import { filesIn, findings, findProgram } from "./linter.ts";

const UNIT = "packaging/exec-server.service";
/** In tenths, where 100 is bare and 0 is shut. */
const MOST_EXPOSURE = 35;

const linters: [name: string, files: string, args: readonly string[]][] = [
  ["shellcheck", "the scripts", [".ci/run", ...filesIn("scripts", ".sh"), ...filesIn("packaging", ".sh")]],
  ["actionlint", "the workflows", filesIn(".github/workflows", ".yml")],
  ["zizmor", "the rights and inputs of the workflows", ["--offline", "--quiet", "--min-severity=medium", ".github"]],
  ["hadolint", "the Dockerfiles", ["Dockerfile", ...filesIn("packaging/docker", ".Dockerfile")]],
];

for (const [name, files, args] of linters) {
  const program = findProgram(name);
  Deno.test({
    name: `${name} finds nothing in ${files}`,
    ignore: program === undefined,
    fn: async () => assert.equal(await findings(program!, args), ""),
  });
}

const systemd = findProgram("systemd-analyze");

Deno.test({
  name: "systemd-analyze understands every line of the unit",
  ignore: systemd === undefined,
  fn: async () => {
    const directory = await Deno.makeTempDir();
    try {
      // It wants to see the program that is to be started.
      const path = `${directory}/exec-server.service`;
      const text = await Deno.readTextFile(new URL(`../../${UNIT}`, import.meta.url));
      await Deno.writeTextFile(path, text.replace("=/usr/local/bin/exec-server ", "=/bin/sh "));
      const { stderr } = await new Deno.Command(systemd!, { args: ["verify", "--man=no", path] }).output();
      // Of lines that it does not know it only warns.
      const said = new TextDecoder().decode(stderr).split("\n").filter((line) => line.includes("exec-server.service"));
      assert.deepEqual(said, []);
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  },
});

Deno.test({
  name: "systemd-analyze calls the unit well enough confined",
  ignore: systemd === undefined || !await judgesFiles(systemd),
  fn: async () => {
    const args = ["security", "--no-pager", "--offline=yes", `--threshold=${MOST_EXPOSURE}`, UNIT];
    assert.equal(await findings(systemd!, args), "");
  },
});

Deno.test("the command line of the unit is one that the server takes", () => {
  const text = Deno.readTextFileSync(new URL(`../../${UNIT}`, import.meta.url));
  const [, words] = /^ExecStart=\/usr\/local\/bin\/exec-server (.+)$/m.exec(text)!;
  const command = parseServeOptions(words!.split(" "), () => undefined);
  assert.ok(command.kind === "serve" && command.options.listen.kind !== "stdio");
  assert.equal(command.options.idle.length, 0);
  assert.ok(JSON.stringify(command.options.auth).includes("${CREDENTIALS_DIRECTORY}/token"));
});

/** Whether it can judge a unit that is not loaded, as of version 250. */
async function judgesFiles(program: string): Promise<boolean> {
  const { stdout } = await new Deno.Command(program, { args: ["--version"] }).output();
  return Number(/^systemd (\d+)/.exec(new TextDecoder().decode(stdout))?.[1] ?? 0) >= 250;
}
