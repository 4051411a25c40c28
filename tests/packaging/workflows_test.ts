import assert from "node:assert/strict";
import config from "../../deno.json" with { type: "json" };
import { DEBIAN, InstallScene, programSaying, sumOf } from "./install_scene.ts";
import { readWorkflow, releaseStep, textOf, WORKFLOWS } from "./workflow.ts";

const PROJECT = new URL("../../", import.meta.url).pathname;
/** An action is run at a commit, since a tag can be moved; which version that is stands beside it. */
const PINNED = /^[\w.-]+\/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
/** By what a job runs what is the project's, or its dependencies'. */
const RUNS_OURS = /\.ci\/run|\bdeno@|scripts\/|packaging\//;

Deno.test("every action of the workflows is pinned by a commit, and the same one everywhere", () => {
  const versions = new Map<string, string>();
  for (const workflow of WORKFLOWS) {
    const used = [...textOf(`.github/workflows/${workflow}.yml`).matchAll(/\buses: (.+)/g)].map(([, action]) =>
      action!
    );
    assert.notEqual(used.length, 0);
    for (const action of used.filter((action) => !action.startsWith("./"))) {
      assert.match(action, PINNED);
      const [name, version] = action.split("@") as [string, string];
      assert.equal(versions.get(name) ?? version, version, name);
      versions.set(name, version);
    }
  }
});

Deno.test("a job of the workflows that runs our code can only read, and none has rights that it does not name", () => {
  for (const workflow of WORKFLOWS) {
    const { permissions, jobs } = readWorkflow(workflow);
    assert.deepEqual(permissions, {}, "what a job has that says nothing");
    for (const [name, { permissions: rights, steps = [], uses }] of Object.entries(jobs)) {
      assert.ok(rights, `${workflow}, ${name}: no permissions`);
      const checksOut = steps.some((step) => step.uses?.startsWith("actions/checkout@"));
      const runsOurs = uses !== undefined || checksOut || steps.some(({ run = "" }) => RUNS_OURS.test(run));
      if (runsOurs) assert.deepEqual(rights, { contents: "read" }, `${workflow}, ${name}`);
    }
  }
});

Deno.test("the workflows and the Dockerfile take the Deno that changes are checked with", () => {
  const [, version] = /^DENO_VERSION=(.+)$/m.exec(textOf(".ci/run"))!;
  for (const workflow of WORKFLOWS) assert.equal(readWorkflow(workflow).env?.["DENO_VERSION"], version, workflow);
  assert.match(textOf("Dockerfile"), new RegExp(`^FROM denoland/deno:debian-${version} AS build$`, "m"));
});

Deno.test("what the install script looks for is what the release builds", () => {
  const targets = readWorkflow("release").jobs["build"]!.strategy!.matrix.include!.map(({ target }) => target);
  const built = targets.filter((target) => !target.includes("windows")).map((target) => target.replace("-unknown", ""));
  const script = textOf("scripts/install.sh");
  const systems = [...script.matchAll(/say "exec-server-\$machine-([a-z-]+)"/g)].map(([, system]) => system);
  const machines = [...script.matchAll(/ machine=(\w+) ;;/g)].map(([, machine]) => machine);
  const sought = systems.flatMap((system) => machines.map((machine) => `${machine}-${system}`));
  assert.deepEqual(sought.sort(), built.sort());
});

Deno.test("a release has our licence and the notices of others, once for all targets", () => {
  const { build, assemble } = readWorkflow("release").jobs;
  const kept = build!.steps!.filter((step) => step.with?.["path"] === "dist/THIRD_PARTY_NOTICES.txt");
  const targets = build!.strategy!.matrix.include!.map(({ target }) => target);
  assert.deepEqual(kept.map((step) => targets.filter((target) => step.if === `matrix.target == '${target}'`)), [[
    "x86_64-unknown-linux-gnu",
  ]]);
  const taken = assemble!.steps!.find((step) => step.uses?.startsWith("actions/download-artifact@"))!.with!;
  assert.deepEqual([taken["pattern"], taken["path"], taken["merge-multiple"]], ["program-*", "release", true]);
  assert.match(String(kept[0]!.with!["name"]), /^program-/);
  const names = assemble!.steps!.map(({ name }) => name);
  const ours = names.indexOf("Add our licence to the notices of others");
  assert.match(assemble!.steps![ours]!.run!, /^cp LICENSE release\/$/);
  assert.ok(ours < names.indexOf("Write the sums"));
});

Deno.test({
  name: "the install script that the release writes installs from that release without being told anything",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const writing = releaseStep("assemble", "Write the address of the releases into the install script");
    await using scene = await InstallScene.make();
    // In a directory of its own, with what it reads and where it writes to.
    const directory = `${scene.home}/checkout`;
    await Deno.mkdir(`${directory}/release`, { recursive: true });
    for (const name of ["scripts", "packaging"]) await Deno.symlink(PROJECT + name, `${directory}/${name}`);
    // What the runners have for that, and not every machine.
    const jq = `jq() { echo '${config.version}'; }\n`;
    const { code } = await new Deno.Command("bash", {
      args: ["-euo", "pipefail", "-c", jq + writing],
      cwd: directory,
      env: { GITHUB_SERVER_URL: scene.releases, GITHUB_REPOSITORY: "some-body/some.thing" },
    }).output();
    assert.equal(code, 0);
    assert.deepEqual([...Deno.readDirSync(`${directory}/release`)].map(({ name }) => name).sort(), [
      "exec-server.service",
      "install.sh",
    ]);

    const program = programSaying(`exec-server ${config.version}`);
    const place = `/some-body/some.thing/releases/download/v${config.version}`;
    const name = "exec-server-x86_64-linux-gnu";
    scene.published.set(`${place}/${name}`, program);
    scene.published.set(`${place}/SHA256SUMS`, `${await sumOf("x")}  other\n${await sumOf(program)}  ${name}\n`);
    const { stderr, stdout } = await scene.run(DEBIAN, ["--to", `${scene.home}/bin`], {
      env: { EXEC_SERVER_RELEASES: "" },
      script: `${directory}/release/install.sh`,
    });
    assert.equal(stderr, "");
    assert.match(
      stdout,
      new RegExp(`^exec-server ${config.version} is installed: ${scene.home}/bin/exec-server$`, "m"),
    );
  },
});
