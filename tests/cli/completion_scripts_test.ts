import assert from "node:assert/strict";
import type { Command } from "../../lib/cli/command.ts";
import { loadCommands } from "../../lib/cli/commands.ts";
import { bashCompletions, fishCompletions, zshCompletions } from "../../lib/cli/completion_scripts.ts";

const commands = await loadCommands();

const SHELLS: [string, (commands: readonly Command[]) => string][] = [
  ["bash", bashCompletions],
  ["zsh", zshCompletions],
  ["fish", fishCompletions],
];

for (const [shell, make] of SHELLS) {
  Deno.test(`the completions for ${shell} know every command and option`, () => {
    const script = make(commands);
    for (const { name, options } of commands) {
      assert.match(script, new RegExp(`\\b${name}\\b`));
      for (const option of options) {
        assert.ok(script.includes(shell === "fish" ? `-l ${option.name.slice(2)}` : option.name), option.name);
      }
    }
    assert.match(script, /\bauto bubblewrap unshare landlock external\b/, "what the server's own options can be");
  });

  const isThere = await hasShell(shell);
  Deno.test({
    name: `${shell} takes the completions${isThere ? "" : ` (skipped: no ${shell} here)`}`,
    ignore: !isThere,
    async fn() {
      const path = await Deno.makeTempFile();
      await Deno.writeTextFile(path, make(commands));
      const { success, stderr } = await new Deno.Command(shell, { args: ["-n", path] }).output();
      await Deno.remove(path);
      assert.ok(success, new TextDecoder().decode(stderr));
    },
  });
}

const hasFish = await hasShell("fish");
Deno.test({
  name: `fish completes commands, options, choices and files${hasFish ? "" : " (skipped: no fish here)"}`,
  ignore: !hasFish,
  async fn() {
    const path = await Deno.makeTempFile();
    await Deno.writeTextFile(path, fishCompletions(commands));
    const complete = async (line: string) => {
      const { stdout } = await new Deno.Command("fish", { args: ["-c", `source ${path}; complete -C '${line}'`] })
        .output();
      return new TextDecoder().decode(stdout).trim().split("\n").map((text) => text.split("\t")[0]);
    };
    assert.deepEqual(await complete("exec-server she"), ["shell"]);
    assert.deepEqual(await complete("exec-server exec --ti"), ["--timeout"]);
    assert.deepEqual(await complete("exec-server completions z"), ["zsh"]);
    assert.deepEqual(await complete("exec-server --sand"), ["--sandbox"]);
    assert.deepEqual(await complete("exec-server --listen stdio --sandbox b"), ["bubblewrap"]);
    assert.deepEqual(await complete(`exec-server exec --token-file ${path}`), [path]);
    await Deno.remove(path);
  },
});

const hasZsh = await hasShell("zsh");
Deno.test({
  name: `zsh may read the completions at its start${hasZsh ? "" : " (skipped: no zsh here)"}`,
  ignore: !hasZsh,
  async fn() {
    const path = await Deno.makeTempFile();
    await Deno.writeTextFile(path, zshCompletions(commands));
    const script = `compdef() { echo "compdef $@" }; source ${path}`;
    const { stdout } = await new Deno.Command("zsh", { args: ["-f", "-c", script] }).output();
    assert.equal(new TextDecoder().decode(stdout), "compdef _exec_server exec-server\n");
    await Deno.remove(path);
  },
});

async function hasShell(name: string): Promise<boolean> {
  try {
    return (await new Deno.Command(name, { args: ["-c", "true"] }).output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test("bash completes commands, options, choices and files, and leaves another program's options alone", async () => {
  const directory = await Deno.makeTempDir();
  await Deno.writeTextFile(`${directory}/a token`, "");
  const complete = async (...words: string[]) => {
    const script = `${bashCompletions(commands)}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _exec_server; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await new Deno.Command("bash", { args: ["-c", script, "bash", "exec-server", ...words] })
      .output();
    return new TextDecoder().decode(stdout).trim().split("\n");
  };
  assert.deepEqual(await complete("she"), ["shell"]);
  assert.deepEqual(await complete("exec", "--ti"), ["--timeout"]);
  assert.deepEqual(await complete("completions", "z"), ["zsh"]);
  assert.deepEqual(await complete("--sand"), ["--sandbox"]);
  assert.deepEqual(await complete("--listen", "stdio", "--sandbox", "b"), ["bubblewrap"]);
  assert.deepEqual(await complete("--ws-token-file", `${directory}/a`), [`${directory}/a token`]);
  assert.deepEqual(await complete("exec", "--token-file", `${directory}/a`), [`${directory}/a token`]);
  assert.deepEqual(await complete("exec", "--", "ls", "--ti"), [""]);
  await Deno.remove(directory, { recursive: true });
});
