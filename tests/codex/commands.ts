/** Scenarios of commands: what they print, how they end, what they are fed with. */
import assert from "node:assert/strict";
import { call, inOrder, run, say, sessionOf, until, UNTIL_IT_ENDS_MS } from "./sayings.ts";
import type { Scenario } from "./scenario.ts";

const shellCommand: Scenario = {
  name: "a shell command",
  script: () => inOrder([run("echo hello; pwd; exit 3")], [run("echo oops >&2; exit 1")], [run("seq 1 1000000")]),
  check({ answers, introduction }) {
    assert.match(introduction, /<shell>bash<\/shell>/);
    assert.deepEqual(answers.slice(0, 2), [
      { tool: "exec_command", state: "exited with code 3", output: "hello\n<root>/work\n" },
      { tool: "exec_command", state: "exited with code 1", output: "oops\n" },
    ]);
    assert.equal(answers[2]?.state, "exited with code 0");
    assert.match(answers[2].output, /original token count: 1722224\)/); // 6,888,896 bytes: none lost
    assert.match(answers[2].output, /^1\n2\n3\n[^]*\n999999\n1000000\n$/m);
  },
};

const whereAndHow: Scenario = {
  name: "commands in other directories and shells",
  async prepare({ work }) {
    await Deno.mkdir(`${work}/with space/é`, { recursive: true });
  },
  script: ({ work }) =>
    inOrder(
      [run("pwd", { workdir: "with space/é" })],
      [run("shopt -q login_shell; echo $?", { login: false }), run("shopt -q login_shell; echo $?")],
      [run("printenv CODEX_CI TERM EXEC_SERVER_TEST_CARRIER | sed s/ws/stdio/")],
      [run("pwd", { workdir: `${work}/nowhere` })],
      [run("kill -9 $$")],
    ),
  check({ answers }) {
    assert.deepEqual(answers.map(({ output }) => output).slice(0, 4), [
      "<root>/work/with space/é\n",
      "1\n",
      "0\n",
      "1\ndumb\nstdio\n",
    ]);
    assert.match(answers[4]!.output, /exec-server rejected request \(-32603\): No such file or directory/);
    assert.equal(answers[5]?.state, "exited with code 137");
  },
};

const withInput: Scenario = {
  name: "a long-running command with input",
  *script() {
    const cmd = 'echo ready; read -r a; echo "got $a"; read -r b; echo "and $b"; exit 7';
    let told = yield [call("exec_command", { cmd, tty: true, yield_time_ms: 1_000 })];
    const session = sessionOf(told);
    yield* until("ready", session, told);
    told = yield [call("write_stdin", { session_id: session, chars: "first\n", yield_time_ms: 1_000 })];
    yield* until("got first", session, told);
    yield [call("write_stdin", { session_id: session, chars: "second\n", yield_time_ms: UNTIL_IT_ENDS_MS })];
    told = yield [call("exec_command", { cmd: "for i in 1 2 3; do echo $i; sleep 0.3; done", yield_time_ms: 250 })];
    yield [call("write_stdin", { session_id: sessionOf(told) })];
    yield [say("done")];
  },
  check({ answers }) {
    assert.deepEqual(answers, [
      {
        tool: "exec_command",
        state: "exited with code 7",
        output: "ready\r\nfirst\r\ngot first\r\nsecond\r\nand second\r\n",
      },
      { tool: "exec_command", state: "exited with code 0", output: "1\n2\n3\n" },
    ]);
  },
};

const interrupted: Scenario = {
  name: "Ctrl-C, on a terminal and without one",
  *script() {
    const cmd = "trap 'echo caught; exit 9' INT; echo armed; while :; do sleep 0.1; done";
    for (const tty of [true, false]) {
      const told = yield [call("exec_command", { cmd, tty, yield_time_ms: 1_000 })];
      const session = sessionOf(told);
      yield* until("armed", session, told);
      yield [call("write_stdin", { session_id: session, chars: "\u0003", yield_time_ms: UNTIL_IT_ENDS_MS })];
    }
    yield [say("done")];
  },
  check({ answers }) {
    assert.deepEqual(answers.map(({ state }) => state), ["exited with code 9", "exited with code 9"]);
    assert.deepEqual(answers.map(({ output }) => output), ["armed\r\n^Ccaught\r\n", "armed\ncaught\n"]);
  },
};

/** That nothing of it is left is what every run checks. */
const leftRunning: Scenario = {
  name: "commands left running when the client ends",
  *script() {
    yield [call("exec_command", { cmd: "echo on; sleep 3600 & exec sleep 3600", yield_time_ms: 1_000 })];
    yield [call("exec_command", { cmd: "echo on; sleep 3600 & exec sleep 3600", tty: true, yield_time_ms: 1_000 })];
    yield [say("done")];
  },
  check({ answers }) {
    assert.deepEqual(answers.map(({ state }) => state), ["running", "running"]);
    assert.deepEqual(answers.map(({ output }) => output.trim()), ["on", "on"]);
  },
};

export const COMMAND_SCENARIOS: readonly Scenario[] = [shellCommand, whereAndHow, withInput, interrupted, leftRunning];
