/** Scenarios of files: patches, instructions, skills, images. */
import assert from "node:assert/strict";
import { call, inOrder, patch, run } from "./sayings.ts";
import type { Scenario } from "./scenario.ts";

const patches: Scenario = {
  name: "apply_patch: create, update, delete, move",
  async prepare(stage) {
    await stage.write("work/old.txt", "one\ntwo\nthree\n");
    await stage.write("work/gone.txt", "bye\n");
    await stage.write("work/from.txt", "a\nb\n");
  },
  script: () =>
    inOrder(
      [patch(
        ...["*** Add File: new/deep/file.txt", "+hello", "+world"],
        ...["*** Update File: old.txt", "@@", " one", "-two", "+TWO", " three"],
        ...["*** Delete File: gone.txt"],
        ...["*** Update File: from.txt", "*** Move to: moved/with space #1.txt", "@@", " a", "-b", "+B"],
      )],
      [patch("*** Update File: absent.txt", "@@", "-x", "+y")],
      [patch("*** Update File: old.txt", "@@", "-never", "+y")],
      [patch("*** Delete File: absent.txt")],
      [patch("*** Add File: old.txt/below.txt", "+x")],
    ),
  check({ answers, files }) {
    assert.match(answers[0]!.output, /^Exit code: 0\n/);
    assert.match(answers[1]!.output, /absent\.txt: No such file or directory \(os error 2\)$/);
    assert.match(answers[2]!.output, /Failed to find expected lines/);
    assert.deepEqual(files, {
      "work/moved": "directory",
      "work/moved/with space #1.txt": "a\nB\n",
      "work/new": "directory",
      "work/new/deep": "directory",
      "work/new/deep/file.txt": "hello\nworld\n",
      "work/old.txt": "one\nTWO\nthree\n",
    });
  },
};

const projectFiles: Scenario = {
  name: "AGENTS.md and a skill, found and read",
  async prepare(stage) {
    await stage.write("work/.git/HEAD", "ref: refs/heads/main\n");
    await stage.write("work/AGENTS.md", "Whistle while you work.\n");
    await stage.write("work/.agents/skills/juggling/SKILL.md", SKILL);
    await stage.write("work/.agents/skills/.hidden/inner/SKILL.md", SKILL.replace("juggling", "hiding"));
  },
  script: () => inOrder([run("cat AGENTS.md")]),
  check({ answers, introduction }) {
    assert.equal(answers[0]?.output, "Whistle while you work.\n");
    assert.match(
      introduction,
      /# AGENTS\.md instructions for <root>\/work\n\n<INSTRUCTIONS>\nWhistle while you work\./,
    );
    assert.match(introduction, /juggling: Keeps three balls in the air/);
  },
};

/** With `AGENTS.override.md`, which is looked for first, and a project that begins above the workspace. */
const override: Scenario = {
  name: "AGENTS.override.md, and AGENTS.md above the workspace",
  async prepare(stage) {
    await stage.write(".git/HEAD", "ref: refs/heads/main\n");
    await stage.write("AGENTS.md", "From above.\n");
    await stage.write("work/AGENTS.md", "Never seen.\n");
    await stage.write("work/AGENTS.override.md", "From the override.\n");
  },
  script: () => inOrder([run("true")]),
  check({ introduction }) {
    assert.match(introduction, /From above\.[\s\S]*From the override\./);
    assert.doesNotMatch(introduction, /Never seen/);
  },
};

const image: Scenario = {
  name: "an image viewed",
  async prepare(stage) {
    await stage.write("work/dot.png", Uint8Array.fromBase64(PNG));
  },
  script: ({ work }) =>
    inOrder(
      [call("view_image", { path: "dot.png" }), call("view_image", { path: `${work}/dot.png` })],
      [call("view_image", { path: "none.png" })],
      [call("view_image", { path: "." })],
    ),
  check({ answers, tools }) {
    assert.ok(tools.includes("view_image"));
    for (const answer of answers.slice(0, 2)) assert.ok(answer.output.includes(`data:image/png;base64,${PNG}`));
    assert.match(answers[2]!.output, /none\.png`: No such file or directory \(os error 2\)$/);
    assert.match(answers[3]!.output, /is not a file/);
  },
};

const SKILL = "---\nname: juggling\ndescription: Keeps three balls in the air\n---\nThrow, then catch.\n";

/** One transparent pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const FILE_SCENARIOS: readonly Scenario[] = [patches, projectFiles, override, image];
