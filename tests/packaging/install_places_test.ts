/** Where `scripts/install.sh` puts the program, and what runs the script. */
import assert from "node:assert/strict";
import { CHOICE, DEBIAN, InstallScene, LINUX, namesIn, PROGRAM, programSaying, VERSION } from "./install_scene.ts";
import { findProgram } from "./linter.ts";

const options = { ignore: Deno.build.os !== "linux" };
/** Whatever a system may have for /bin/sh. */
const SHELLS = [["dash"], ["bash", "--posix"], ["bash"], ["busybox", "sh"], ["mksh"], ["yash"]];
const shellsHere = SHELLS.filter(([name]) => findProgram(name!) !== undefined);
/** That of busybox may ask its own commands who and where it is: only with `--to` is it sure to stay in the scene. */
const obedientShells = shellsHere.filter(([name]) => name !== "busybox");
const OUR_LINUX = `exec-server-${Deno.build.arch}-linux-gnu`;

for (const shell of SHELLS) {
  Deno.test({
    name: `install runs in ${shell.join(" ")}, from a pipe too`,
    ignore: options.ignore || !shellsHere.includes(shell),
    fn: async () => {
      for (const piped of [false, true]) {
        await using scene = await InstallScene.make();
        await scene.publish({ [LINUX]: PROGRAM, [OUR_LINUX]: PROGRAM });
        const args = [...CHOICE, "--to", `${scene.home}/bin`];
        const { code, stderr } = await scene.run(DEBIAN, args, { shell, piped });
        assert.deepEqual([stderr, code], ["", 0]);
        assert.deepEqual(namesIn(`${scene.home}/bin`), ["exec-server"]);

        const musl = await scene.run({ system: "Linux", machine: "x86_64", ldd: "musl libc" }, args, {
          shell,
          piped,
        });
        assert.match(musl.stderr, /^install: [^\n]* is musl, as on Alpine\n$/);
        assert.equal(musl.code, 1);
      }
    },
  });
}

Deno.test("install of which only a part has arrived does nothing, and fails", options, async () => {
  await using scene = await InstallScene.make();
  await scene.publish({ [LINUX]: PROGRAM });
  const whole = Deno.readTextFileSync(new URL("../../scripts/install.sh", import.meta.url)).trimEnd();
  const start = whole.indexOf("\n{\n") + "\n{\n".length;
  const part = `${scene.home}/part.sh`;
  // Every end of the last lines, and ends all over the rest.
  const ends = Array.from({ length: 24 }, (_, index) => whole.length - 1 - index);
  for (let end = start; end < whole.length; end += 397) ends.push(end);
  for (const [index, end] of ends.entries()) {
    Deno.writeTextFileSync(part, whole.slice(0, end));
    const shell = shellsHere[index % shellsHere.length]!;
    const args = [...CHOICE, "--to", `${scene.home}/bin`];
    const { code, stdout } = await scene.run(DEBIAN, args, { script: part, shell, piped: true });
    assert.equal(stdout, "");
    assert.notEqual(code, 0, `${shell.join(" ")}, up to ${JSON.stringify(whole.slice(end - 20, end))}`);
  }
  assert.deepEqual(scene.asked, []);
  assert.deepEqual(namesIn(scene.home), ["part.sh"]);
});

Deno.test("install goes back to an older release as well", options, async () => {
  await using scene = await InstallScene.make();
  const file = `${scene.home}/.local/bin/exec-server`;
  await scene.publish({ [LINUX]: PROGRAM });
  Deno.mkdirSync(`${scene.home}/.local/bin`, { recursive: true });
  Deno.writeTextFileSync(file, programSaying("exec-server 10.0.0"), { mode: 0o755 });
  const { code, stderr } = await scene.run(DEBIAN, ["--version", `v${VERSION}`]);
  assert.deepEqual([stderr, code], ["", 0]);
  assert.equal(Deno.readTextFileSync(file), PROGRAM);
});

Deno.test("install takes names with blanks, backslashes and what shells expand", options, async () => {
  for (const name of ["a b", "back\\slash \\n", "*?[x]", "$HOME", "quote'\"", "-n"]) {
    await using scene = await InstallScene.make();
    await scene.publish({ [LINUX]: PROGRAM });
    const home = `${scene.home}/${name}`;
    for (const shell of obedientShells) {
      const { code, stdout, stderr } = await scene.run(DEBIAN, CHOICE, { shell, env: { HOME: home } });
      assert.deepEqual([stderr, code], ["", 0], shell.join(" "));
      assert.match(stdout, new RegExp(`^exec-server ${VERSION} is installed: .*/exec-server$`, "m"));
      assert.ok(stdout.includes(`: ${home}/.local/bin/exec-server\n`), stdout);
    }
    assert.deepEqual(namesIn(scene.home), [name]);
    assert.deepEqual(namesIn(`${home}/.local/bin`), ["exec-server"]);
  }
});

Deno.test("install into a directory that is named from where one stands", options, async () => {
  await using scene = await InstallScene.make();
  await scene.publish({ [LINUX]: PROGRAM });
  for (const name of ["tools", "tools//", "-x"]) {
    const { code, stdout, stderr } = await scene.run(DEBIAN, [...CHOICE, "--to", name], { cwd: scene.home });
    assert.deepEqual([stderr, code], ["", 0]);
    assert.ok(stdout.includes(`is installed: ${scene.home}/${name.replace("//", "")}/exec-server\n`), stdout);
  }
});

Deno.test("install gives the program to everybody, whatever the mask says", options, async () => {
  await using scene = await InstallScene.make();
  await scene.publish({ [LINUX]: PROGRAM });
  const prefix = ["/bin/sh", "-c", 'umask 077; exec "$@"', "sh"];
  const { code } = await scene.run(DEBIAN, CHOICE, { prefix });
  assert.equal(code, 0);
  assert.equal(Deno.statSync(`${scene.home}/.local/bin/exec-server`).mode! & 0o777, 0o755);
});

Deno.test("install says if its program is not the one that the PATH leads to", options, async () => {
  await using scene = await InstallScene.make();
  await scene.publish({ [LINUX]: PROGRAM });
  const [mine, other] = [`${scene.home}/mine`, `${scene.home}/other`];
  Deno.mkdirSync(other);
  Deno.writeTextFileSync(`${other}/exec-server`, "#!/bin/sh\n", { mode: 0o755 });
  const installed = `exec-server ${VERSION} is installed: ${mine}/exec-server\n`;
  const last = async (path: string) => {
    const { stdout } = await scene.run(DEBIAN, [...CHOICE, "--to", `${mine}/`], { path });
    return stdout.slice(stdout.indexOf("exec-server 9"));
  };
  assert.equal(await last(`${mine}:${other}`), installed);
  assert.equal(
    await last(`${other}:${mine}`),
    `${installed}but the exec-server that comes first on your PATH is ${other}/exec-server\n`,
  );
  assert.equal(await last(other), `${installed}${mine} is not on your PATH: export PATH="${mine}:$PATH"\n`);
});

/** What mounts over a directory, for what is run behind it alone; undefined if nobody may. */
function mounting(mountOptions: string, directory: string): string[] | undefined {
  const [unshare, mount] = [findProgram("unshare"), findProgram("mount")];
  if (unshare === undefined || mount === undefined) return undefined;
  const start = [unshare, "--user", "--map-root-user", "--mount"];
  const { success } = new Deno.Command(unshare, { args: [...start.slice(1), "true"] }).outputSync();
  const script = `${mount} -t tmpfs -o ${mountOptions} none "$0" && exec "$@"`;
  return success ? [...start, "/bin/sh", "-c", script, directory] : undefined;
}

Deno.test({
  name: "install says in one line that nothing can be written there, or nothing run",
  ignore: options.ignore || mounting("ro", "/") === undefined,
  fn: async () => {
    await using scene = await InstallScene.make();
    await scene.publish({ [LINUX]: PROGRAM, [OUR_LINUX]: PROGRAM });
    const directory = `${scene.home}/bin`;
    Deno.mkdirSync(directory);
    for (
      const [mountOptions, line] of [
        ["ro", `cannot write to ${directory}: say where to install with --to DIRECTORY`],
        ["noexec", `the program does not run in ${directory}: Permission denied`],
      ] as const
    ) {
      for (const shell of shellsHere) {
        const prefix = mounting(mountOptions, directory)!;
        const { code, stderr } = await scene.run(DEBIAN, [...CHOICE, "--to", directory], { prefix, shell });
        // Some shells say more about it, but in that line.
        const [start, reason] = line.split(/(?<=: )(?=[^:]+$)/) as [string, string];
        assert.ok(stderr.startsWith(`install: ${start}`) && stderr.endsWith(`${reason}\n`), stderr);
        assert.deepEqual([stderr.split("\n").length, code], [2, 1], stderr);
      }
    }
  },
});
