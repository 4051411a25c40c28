/** Scenarios of confined commands and patches: the CLI's default and the modes that it can be put into. */
import assert from "node:assert/strict";
import type { Outcome } from "./codex_run.ts";
import { quote } from "./configuration.ts";
import { inOrder, patch, run } from "./sayings.ts";
import type { Scenario } from "./scenario.ts";
import type { Script } from "./scripted_model.ts";
import type { Stage } from "./stage.ts";

/** Tells what a command may do; each line ends with how it went. */
const NETWORK =
  "bash -c 'exec 3<>/dev/tcp/127.0.0.1/9' 2>&1 | grep -o 'Operation not permitted\\|Connection refused\\|unreachable'";

/** What is written to two pipes may be read in either order. */
const ONE_STREAM = "exec 2>&1";

async function prepare(stage: Stage): Promise<void> {
  await stage.write("work/.git/config", "[core]\n");
  await stage.write("work/old.txt", "old\n");
  await stage.write("other/old.txt", "old\n");
}

function script({ other, root }: Stage): Script {
  return inOrder(
    [run("echo new > new.txt")],
    [run(`${ONE_STREAM}; cat ${other}/old.txt; echo new > ${other}/new.txt`)],
    [run("echo new > .git/hook; mkdir .codex; mv .git git")],
    [run(NETWORK)],
    [run(
      `${ONE_STREAM}; echo $TMPDIR; touch /tmp/\${0##*/}.$$ && rm /tmp/\${0##*/}.$$; id -u`,
    )],
    [run("tty; test -t 0 && echo on a terminal; echo new > new.txt && echo written", { tty: true })],
    [patch("*** Update File: old.txt", "@@", "-old", "+patched")],
    [patch(`*** Add File: ${other}/patched.txt`, "+patched")],
    [patch(`*** Add File: ${root}/work/.git/patched`, "+patched")],
  );
}

const WHAT_WAS = { "other/old.txt": "old\n", "work/.git": "directory", "work/.git/config": "[core]\n" };

/** Of all that was told: how the commands ended, and what of it says that something was not allowed. */
function told({ answers }: Outcome): string[] {
  return answers.map(({ state, output }) => {
    const denial = /Read-only file system|resource busy|not permitted|rejected/.exec(output)?.[0];
    return [state?.replace("exited with code ", "") ?? "patch", ...(denial === undefined ? [] : [denial])].join(" ");
  });
}

const EROFS = "1 Read-only file system";
const EPERM = "0 not permitted";

const readOnly: Scenario["check"] = (outcome) => {
  assert.deepEqual(outcome.files, { ...WHAT_WAS, "work/old.txt": "old\n" });
  const touched = "0 Read-only file system";
  assert.deepEqual(told(outcome), [EROFS, EROFS, EROFS, EPERM, touched, EROFS, ...repeat("patch rejected", 3)]);
};

const workspaceWrite: Scenario["check"] = (outcome) => {
  assert.deepEqual(outcome.files, { ...WHAT_WAS, "work/old.txt": "patched\n", "work/new.txt": "new\n" });
  assert.deepEqual(told(outcome), ["0", EROFS, EROFS, EPERM, "0", "0", "patch", ...repeat("patch rejected", 2)]);
};

const moreThanTheWorkspace: Scenario["check"] = (outcome) => {
  const written = { "work/old.txt": "patched\n", "work/new.txt": "new\n", "other/new.txt": "new\n" };
  assert.deepEqual(outcome.files, { ...WHAT_WAS, ...written, "other/patched.txt": "patched\n" });
  const [touched, connected] = ["0 Read-only file system", "0"];
  assert.deepEqual(told(outcome), ["0", "0", EROFS, connected, touched, "0", "patch", "patch", "patch rejected"]);
};

function repeat(text: string, times: number): string[] {
  return Array.from({ length: times }, () => text);
}

const extraRoot: Scenario = {
  name: "commands and patches in workspace-write with the network and one more directory, without /tmp",
  ...{ sandbox: 'sandbox_mode = "workspace-write"', isOutsideTmp: true, script, check: moreThanTheWorkspace },
  async prepare(stage) {
    await prepare(stage);
    const settings = `network_access = true\nwritable_roots = [${quote(stage.other)}]\nexclude_slash_tmp = true`;
    return `[sandbox_workspace_write]\n${settings}\n`;
  },
};

const MODES: readonly [string, string, Scenario["check"]][] = [
  ["the default mode", "", readOnly],
  ["read-only", 'sandbox_mode = "read-only"', readOnly],
  ["workspace-write", 'sandbox_mode = "workspace-write"', workspaceWrite],
];

export const SANDBOX_SCENARIOS: readonly Scenario[] = [
  ...MODES.map(([mode, sandbox, check]) => ({
    name: `commands and patches in ${mode}`,
    ...{ sandbox, isOutsideTmp: true, prepare, script, check },
  })),
  extraRoot,
];
