import assert from "node:assert/strict";
import { MAX_CONFIG_FILE_BYTES } from "../../lib/discovery/config/config_file.ts";
import { answerTo, hostBelow } from "./questions.ts";
import { plant, type Tree } from "./tree.ts";
import { Scratch } from "../fs/scratch.ts";

const TRUSTING = '[projects."<T>/work"]\ntrust_level = "trusted"\n';

/** What is said of a configuration, without the directory in which it is. */
async function refusalOf(tree: Tree): Promise<string> {
  using scratch = new Scratch();
  plant(scratch.root, tree);
  const cwd = `file://${scratch.root}/work`;
  const params = { cwd, configPaths: [["a"]], requirementsPaths: [] };
  const { error } = await answerTo(hostBelow(scratch.root), "environmentConfig/read", params) as {
    error: { code: number; message: string };
  };
  assert.equal(error.code, -32603);
  return error.message.replaceAll(scratch.root, "<T>");
}

Deno.test("a syntax error is told with its file and place, in the form of that file", async () => {
  const why = "Unexpected character";
  const excerpt = `TOML parse error at line 2, column 5\n  |\n2 | b = foo\n  |     ^\n${why}\n`;
  const text = "a = 1\nb = foo\n";
  const expected: [Tree, string][] = [
    [{ "codex/config.toml": text }, `<T>/codex/config.toml:2:5: ${why}`],
    [{ "etc/config.toml": text }, `<T>/etc/config.toml:2:5: ${why}`],
    [{ "etc/managed_config.toml": text }, `<T>/etc/managed_config.toml:2:5: ${why}`],
    [
      { "etc/requirements.toml": text },
      `failed to parse requirements layer <T>/etc/requirements.toml: ${excerpt}`,
    ],
    [
      { "codex/config.toml": TRUSTING, "work/.codex/config.toml": text },
      `Error parsing project config file <T>/work/.codex/config.toml: ${excerpt}`,
    ],
  ];
  for (const [tree, message] of expected) {
    assert.equal(await refusalOf(tree), `failed to load executor-local config: ${message}`);
  }
});

Deno.test("a configuration that is too large is refused with the limit, one byte less is read", async () => {
  const sized = (bytes: number): Tree => ({
    "codex/config.toml": { before: "a = 1\n#", repeat: "x", times: bytes - "a = 1\n#".length },
  });
  assert.equal(
    await refusalOf(sized(MAX_CONFIG_FILE_BYTES + 1)),
    "failed to load executor-local config: Failed to read config file <T>/codex/config.toml: " +
      "file is too large to read: limit is 131072 bytes",
  );
  using scratch = new Scratch();
  plant(scratch.root, sized(MAX_CONFIG_FILE_BYTES));
  const params = { cwd: `file://${scratch.root}`, configPaths: [["a"]], requirementsPaths: [] };
  const { result } = await answerTo(hostBelow(scratch.root), "environmentConfig/read", params) as {
    result: { config: { layers: { toml: string }[] } };
  };
  assert.deepEqual(result.config.layers.map(({ toml }) => toml), ["a = 1\n"]);
});
