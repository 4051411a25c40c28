/** What `scripts/install.sh` makes of what comes over the line, and by which programs. */
import assert from "node:assert/strict";
import { brokenOff, CHOICE, DEBIAN, InstallScene, LINUX, namesIn, PROGRAM, sumOf, VERSION } from "./install_scene.ts";
import { findProgram } from "./linter.ts";

const options = { ignore: Deno.build.os !== "linux" };

/** Whether the program is here, and is GNU's. */
const hasWget = findProgram("wget") !== undefined && new TextDecoder().decode(
  new Deno.Command("wget", { args: ["--version"] }).outputSync().stdout,
).startsWith("GNU Wget");

Deno.test({
  name: "install downloads with GNU wget where there is no curl, and says what it says",
  ignore: options.ignore || !hasWget,
  fn: async () => {
    await using scene = await InstallScene.make();
    await scene.publish({ [LINUX]: PROGRAM });
    const tools = { without: ["curl"], having: ["wget"] };
    const { code, stderr } = await scene.run(DEBIAN, CHOICE, tools);
    assert.deepEqual([stderr, code], ["", 0]);
    assert.equal(Deno.readTextFileSync(`${scene.home}/.local/bin/exec-server`), PROGRAM);

    const missing = await scene.run(DEBIAN, ["--version", "1.2.3"], tools);
    assert.match(missing.stderr, /^install: cannot download http:\S+\/v1\.2\.3\/SHA256SUMS: [^\n]*\b404\b[^\n]*\n$/);
    assert.deepEqual([missing.code, missing.stdout], [1, ""]);
    assert.deepEqual(namesIn(`${scene.home}/.local/bin`), ["exec-server"]);
  },
});

for (const name of ["shasum", "openssl"]) {
  Deno.test({
    name: `install compares sums with ${name} where there is no sha256sum`,
    ignore: options.ignore || findProgram(name) === undefined,
    fn: async () => {
      await using scene = await InstallScene.make();
      await scene.publish({ [LINUX]: PROGRAM });
      const tools = { without: ["sha256sum"], having: [name] };
      const { code, stderr } = await scene.run(DEBIAN, CHOICE, tools);
      assert.deepEqual([stderr, code], ["", 0]);

      await scene.publish({ [LINUX]: PROGRAM }, `${await sumOf("another")}  ${LINUX}\n`);
      const other = await scene.run(DEBIAN, CHOICE, tools);
      assert.match(other.stderr, new RegExp(`its sum is ${await sumOf(PROGRAM)} and not ${await sumOf("another")}\n$`));
      assert.equal(other.code, 1);
    },
  });
}

Deno.test("install takes a list whose last line has no end, or marks files as binary", options, async () => {
  await using scene = await InstallScene.make();
  for (const line of [`${await sumOf(PROGRAM)}  ${LINUX}`, `${await sumOf(PROGRAM)} *${LINUX}\n`]) {
    await scene.publish({ [LINUX]: PROGRAM }, `${await sumOf("x")}  ${LINUX}.sbom\n${line}`);
    const { code, stderr } = await scene.run(DEBIAN, CHOICE);
    assert.deepEqual([stderr, code], ["", 0]);
  }
});

Deno.test("install names a list that is none: a page that wants somebody to sign in", options, async () => {
  await using scene = await InstallScene.make();
  for (const page of ["<!doctype html>\n<p>Sign in\n", "Not: found", `${"g".repeat(64)}  ${LINUX}\n`, "0 x\n"]) {
    await scene.publish({ [LINUX]: PROGRAM }, page);
    const list = `${scene.releases}/download/v${VERSION}/SHA256SUMS`;
    assert.deepEqual(await scene.run(DEBIAN, CHOICE), {
      code: 1,
      stdout: "",
      stderr: `install: ${list} is no list of sums: something else answers there\n`,
    });
  }
  assert.deepEqual(namesIn(`${scene.home}/.local/bin`), []);
});

Deno.test("install takes a transfer that breaks off for a failure, and leaves nothing of it", options, async () => {
  await using scene = await InstallScene.make();
  const sums = `${await sumOf(PROGRAM)}  ${LINUX}\n`;
  const address = `${scene.releases}/download/v${VERSION}`;
  const cases = [["SHA256SUMS", PROGRAM, brokenOff(sums)], [LINUX, brokenOff(PROGRAM), sums]] as const;
  for (const [name, program, list] of cases) {
    await scene.publish({ [LINUX]: program }, list);
    const { code, stderr } = await scene.run(DEBIAN, CHOICE);
    assert.match(stderr, /^install: [^\n]+\n$/);
    assert.ok(stderr.startsWith(`install: cannot download ${address}/${name}: curl: (`), stderr);
    assert.equal(code, 1);
    assert.deepEqual(namesIn(`${scene.home}/.local/bin`), []);
  }
});

Deno.test("install that is told to end, ends as such and leaves nothing", options, async () => {
  for (const [signal, code] of [["HUP", 129], ["INT", 130], ["TERM", 143]] as const) {
    await using scene = await InstallScene.make();
    // The program tells the script, its parent, to end.
    await scene.publish({ [LINUX]: `#!/bin/sh\nkill -${signal} $PPID\necho 'exec-server ${VERSION}'\n` });
    const outcome = await scene.run(DEBIAN, CHOICE, { shell: ["dash"] });
    assert.equal(outcome.code, code, signal);
    assert.deepEqual(namesIn(`${scene.home}/.local/bin`), []);
  }
});

Deno.test("install asks a mirror, whether its address ends with a slash or not", options, async () => {
  await using scene = await InstallScene.make();
  await scene.publish({ [LINUX]: PROGRAM });
  const { code } = await scene.run(DEBIAN, CHOICE, { env: { EXEC_SERVER_RELEASES: `${scene.releases}/` } });
  assert.equal(code, 0);
  assert.deepEqual(scene.asked, [`/download/v${VERSION}/SHA256SUMS`, `/download/v${VERSION}/${LINUX}`]);
});
