/** Scenarios of more than one place: two environments, and MCP servers that are reached from the environment. */
import assert from "node:assert/strict";
import { mcpServer, quote } from "./configuration.ts";
import { listenForMcp } from "./mcp_listener.ts";
import { call, inOrder, patch, run } from "./sayings.ts";
import type { Scenario } from "./scenario.ts";

/** More than two blocks of 1 MiB. */
const BIG_BYTES = 2_500_000;

const twoEnvironments: Scenario = {
  name: "two environments",
  async prepare(stage) {
    await stage.write("work/big.txt", "0123456789".repeat(BIG_BYTES / 10));
  },
  environments: (url, own) => [{ id: "first", url }, { ...own, id: "second" }],
  script: ({ work, other }) =>
    inOrder(
      [run("echo $EXEC_SERVER_TEST_CARRIER"), run("echo $EXEC_SERVER_TEST_CARRIER", { environment_id: "second" })],
      [patch("*** Environment ID: second", `*** Add File: ${other}/new/there.txt`, "+hello")],
      [copy("first", `${work}/big.txt`, "second", `${other}/big.txt`)],
      [copy("second", `${other}/big.txt`, "first", `${work}/back.txt`)],
      [copy("second", `${other}/absent.txt`, "first", `${work}/absent.txt`)],
    ),
  check({ answers, files, introduction }) {
    assert.match(
      introduction,
      /<environment id="first" primary="true">[\s\S]*<environment id="second" primary="false">/,
    );
    assert.deepEqual(answers.slice(0, 2).map(({ output }) => output), ["ws\n", "stdio\n"]);
    assert.equal(files["other/new/there.txt"], "hello\n");
    assert.match(files["work/big.txt"]!, /^2500000 bytes/);
    assert.equal(files["other/big.txt"], files["work/big.txt"]);
    assert.equal(files["work/back.txt"], files["work/big.txt"]);
    assert.match(answers[5]!.output, /could not open copy source: entity not found/);
    assert.equal(files["work/absent.txt"], undefined);
  },
};

function copy(from: string, source: string, to: string, target: string) {
  return call("multi_env_copy_file", {
    source_environment_id: from,
    source_path: source,
    target_environment_id: to,
    target_path: target,
  });
}

const mcpServers: Scenario = {
  name: "MCP servers in the environment, over stdio and over HTTP",
  async prepare(stage, resources) {
    const url = listenForMcp(resources);
    const program = new URL("./mcp_program.ts", import.meta.url).pathname;
    const args = ["run", "--no-config", "--no-lock", "--allow-env", "--allow-read", program];
    return await Promise.resolve([
      mcpServer("quiet", {
        command: quote(Deno.execPath()),
        args: JSON.stringify(args),
        cwd: quote(stage.work),
        env: `{ MCP_TEST_SETTING = "low" }`,
      }),
      mcpServer("loud", { url: quote(url), http_headers: `{ "x-mcp-test-setting" = "high" }` }),
    ].join("\n"));
  },
  script: () =>
    inOrder(
      [call("say", { text: "psst" }, "mcp__quiet"), call("say", { text: "hey" }, "mcp__loud")],
      [
        call("say", { text: "x".repeat(300_000) }, "mcp__quiet"),
        call("say", { text: "y".repeat(300_000) }, "mcp__loud"),
      ],
    ),
  check({ answers }) {
    // Older versions of the CLI pass on the whole content as JSON.
    const sayings = ["quiet says psst, low", "loud says hey, high", "quiet says xxx", "loud says yyy"];
    for (const [index, said] of sayings.entries()) {
      assert.ok(answers[index]!.output.includes(said), answers[index]!.output);
    }
  },
};

export const PLACE_SCENARIOS: readonly Scenario[] = [twoEnvironments, mcpServers];
