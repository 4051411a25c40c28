import assert from "node:assert/strict";
import { Checkout } from "./compile_scene.ts";

/** Another than that of any machine that runs the tests of Linux, so that what is made for it is not tried. */
const [TARGET, FILE] = Deno.build.arch === "x86_64"
  ? ["aarch64-unknown-linux-gnu", "exec-server-aarch64-linux-gnu"]
  : ["x86_64-unknown-linux-gnu", "exec-server-x86_64-linux-gnu"];

const NOTICES_FILE = "THIRD_PARTY_NOTICES.txt";

/** The run-time base of these tests is made of a program of Linux. */
const ignore = Deno.build.os !== "linux";

/** Where nobody answers. */
const NOWHERE = "http://127.0.0.1:9";

Deno.test({
  name: "without a run-time base there is one sentence, and what was made before stays",
  ignore,
  async fn() {
    await using checkout = await Checkout.make();
    const denoDirectory = await cacheWithoutBase(`${checkout.path}/cache`);
    const env = { DENO_DIR: denoDirectory, HTTPS_PROXY: NOWHERE, https_proxy: NOWHERE, DENO_BIN: Deno.execPath() };
    const { code, stderr } = await checkout.run(["--target", TARGET], { ...env, DENORT_BIN: "" });
    assert.equal(code, 1);
    const said = stderr.trim().split("\n").at(-1)!;
    assert.match(
      said,
      new RegExp(`^compile: the run-time base of Deno ${Deno.version.deno} for ${TARGET} could not be`),
    );
    assert.match(said, /set DENORT_BIN to a denort executable of this version$/);
    assert.deepEqual(checkout.dist(), Checkout.untouched);
  },
});

Deno.test({
  name: "two runs make the same file, the same notices and their sums, and leave nothing else",
  ignore,
  async fn() {
    await using checkout = await Checkout.make(TARGET);
    const first = await checkout.run(["--target", TARGET]);
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, new RegExp(`^dist/${FILE}: exec-server \\d+\\.\\d+\\.\\d+, \\d+\\.\\d MB\n$`));
    const bytes = await Deno.readFile(`${checkout.path}/dist/${FILE}`);
    const notices = await Deno.readFile(`${checkout.path}/dist/${NOTICES_FILE}`);
    const sums = `${await sumOf(bytes)}  ${FILE}\n${await sumOf(notices)}  ${NOTICES_FILE}\n`;
    const expected = { ...Checkout.untouched, [FILE]: "large", [NOTICES_FILE]: "large", SHA256SUMS: sums };
    assert.deepEqual(checkout.dist(), expected);
    assert.equal((await checkout.run(["--target", TARGET])).code, 0);
    assert.deepEqual(checkout.dist(), expected);
  },
});

Deno.test({
  name: "what does not work on this machine does not take the place of what was made before",
  ignore,
  async fn() {
    await using checkout = await Checkout.make();
    const { code, stderr } = await checkout.run([]);
    assert.match(stderr, /^compile: what was made says that it is ".*"$/m);
    assert.equal(code, 1);
    assert.deepEqual(checkout.dist(), Checkout.untouched);
  },
});

Deno.test({
  name: "a package that the lock file does not name is refused",
  ignore,
  async fn() {
    await using checkout = await Checkout.make(TARGET);
    const lock = JSON.parse(await Deno.readTextFile(`${checkout.path}/deno.lock`));
    const [removed] = Object.keys(lock.specifiers).filter((name) => name.startsWith("npm:ws@"));
    delete lock.specifiers[removed!];
    await Deno.writeTextFile(`${checkout.path}/deno.lock`, JSON.stringify(lock));
    const { code, stderr } = await checkout.run(["--target", TARGET]);
    assert.match(stderr, /^compile: cache failed: error: The lockfile is out of date\..*$/m);
    assert.equal(code, 1);
    assert.deepEqual(checkout.dist(), Checkout.untouched);
  },
});

Deno.test({
  name: "an interruption leaves all as it was",
  ignore,
  async fn() {
    await using checkout = await Checkout.make(TARGET);
    const child = checkout.start(["--target", TARGET], {});
    const output = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
    let said = "";
    while (!said.includes(FILE)) said += (await output.read()).value ?? assert.fail(said);
    assert.equal(checkout.dist()["compile"], "a directory");
    child.kill("SIGINT");
    for (let part = await output.read(); !part.done; part = await output.read()) said += part.value;
    assert.match(said, /^compile: interrupted$/m);
    assert.equal((await child.status).code, 130);
    await child.stdout.cancel();
    assert.deepEqual(checkout.dist(), Checkout.untouched);
  },
});

Deno.test({
  name: "what cannot be done is refused at once, with its name",
  ignore,
  async fn() {
    await using checkout = await Checkout.make();
    const refused = async (args: string[], reason: RegExp, env = {}) => {
      const { code, stderr } = await checkout.run(args, env);
      assert.match(stderr, reason);
      assert.equal(code, 1);
    };
    await refused(["--target", "riscv"], /^compile: 'riscv' is none of the targets: x86_64-unknown-linux-gnu, .*\n$/);
    await refused(["--target"], /^compile: '' is none of the targets: /);
    await refused(["--fast"], /^compile: unexpected argument '--fast'\n$/);
    await refused(["--all"], /^compile: DENORT_BIN is the base for one target only\n$/);
    await refused([], /^compile: DENORT_BIN: No such file or directory .*'\/none'\n$/, { DENORT_BIN: "/none" });
    const other = /^compile: DENORT_BIN: \/bin\/true is no run-time base of Deno \d+\.\d+\.\d+\n$/;
    await refused([], other, { DENORT_BIN: "/bin/true" });
    for (const target of [TARGET, `${Deno.build.arch}-apple-darwin`, `${Deno.build.arch}-pc-windows-msvc`]) {
      const reason = new RegExp(`^compile: DENORT_BIN: \\S+/base is no run-time base for ${target}\n$`);
      await refused(["--target", target], reason);
    }
    await refused([], /^compile: \/none cannot be run: .*\n$/, { DENO_BIN: "/none" });
    await refused([], /^compile: DENO_BIN: \/bin\/true is no deno\n$/, { DENO_BIN: "/bin/true" });
    {
      using held = await Deno.open(`${checkout.path}/dist`);
      await held.lock(true);
      await refused([], /^compile: another run is at work in dist\n$/);
    }
    assert.deepEqual(checkout.dist(), Checkout.untouched);
    await Deno.remove(`${checkout.path}/dist`, { recursive: true });
    await Deno.writeTextFile(`${checkout.path}/dist`, "in the way");
    await refused([], /^compile: dist cannot be written: File exists .*\n$/);
  },
});

async function sumOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** A cache with all packages and the bundler of the real one, and without what Deno has fetched for executables. */
async function cacheWithoutBase(directory: string): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"], stderr: "null" }).output();
  const { denoDir } = JSON.parse(new TextDecoder().decode(stdout)) as { denoDir: string };
  const empty = await Deno.makeTempFile({ suffix: ".ts" });
  // The first bundle fetches the bundler.
  const args = ["bundle", "--quiet", "--output", "/dev/null", empty];
  assert.ok((await new Deno.Command(Deno.execPath(), { args }).output()).success);
  await Deno.remove(empty);
  await Deno.mkdir(`${directory}/dl`, { recursive: true });
  await Deno.symlink(`${denoDir}/npm`, `${directory}/npm`);
  for await (const { name } of Deno.readDir(`${denoDir}/dl`)) {
    if (name.startsWith("esbuild")) await Deno.symlink(`${denoDir}/dl/${name}`, `${directory}/dl/${name}`);
  }
  return directory;
}
