import assert from "node:assert/strict";
import {
  CHOICE,
  DEBIAN,
  InstallScene,
  LINUX,
  type MachineAnswers,
  namesIn,
  PROGRAM,
  programSaying,
  sumOf,
  VERSION,
} from "./install_scene.ts";

const options = { ignore: Deno.build.os !== "linux" };

Deno.test(
  "install puts the program of a release into ~/.local/bin, ready to run, and leaves nothing else",
  options,
  async () => {
    await using scene = await InstallScene.make();
    await scene.publish({ [LINUX]: PROGRAM, "exec-server-aarch64-linux-gnu": "another" });
    const { code, stdout, stderr } = await scene.run(DEBIAN, CHOICE);
    const directory = `${scene.home}/.local/bin`;
    assert.equal(stderr, "");
    assert.equal(
      stdout,
      `downloading ${scene.releases}/download/v${VERSION}/${LINUX}\n` +
        `exec-server ${VERSION} is installed: ${directory}/exec-server\n` +
        `${directory} is not on your PATH: export PATH="${directory}:$PATH"\n`,
    );
    assert.equal(code, 0);
    assert.deepEqual(namesIn(directory), ["exec-server"]);
    assert.equal(Deno.statSync(`${directory}/exec-server`).mode! & 0o777, 0o755);
    assert.equal(Deno.readTextFileSync(`${directory}/exec-server`), PROGRAM);
    assert.deepEqual(scene.asked, [`/download/v${VERSION}/SHA256SUMS`, `/download/v${VERSION}/${LINUX}`]);
  },
);

Deno.test("install takes the file of the machine that it runs on", options, async () => {
  const machines: [string, MachineAnswers][] = [
    [LINUX, { ...DEBIAN, machine: "amd64" }],
    ["exec-server-aarch64-linux-gnu", { ...DEBIAN, machine: "aarch64" }],
    ["exec-server-aarch64-linux-gnu", { system: "Linux", machine: "arm64", ldd: "ldd (GNU libc) 2.27" }],
    [LINUX, { system: "Linux", machine: "x86_64", ldd: "ldd (Debian GLIBC 3.1-9+deb12u1) 3.1\nCopyright" }],
    ["exec-server-x86_64-apple-darwin", { system: "Darwin", machine: "x86_64" }],
    ["exec-server-aarch64-apple-darwin", { system: "Darwin", machine: "arm64", translated: "0" }],
    // A shell under Rosetta.
    ["exec-server-aarch64-apple-darwin", { system: "Darwin", machine: "x86_64", translated: "1" }],
  ];
  for (const [name, machine] of machines) {
    await using scene = await InstallScene.make();
    await scene.publish({ [name]: PROGRAM });
    const { code, stderr } = await scene.run(machine, CHOICE);
    assert.deepEqual([stderr, code], ["", 0], JSON.stringify(machine));
  }
});

Deno.test("install refuses other machines in one line, and asks for nothing", options, async () => {
  await using scene = await InstallScene.make();
  const glibc = "install: exec-server needs the GNU C library (glibc) 2.27 or newer, and ";
  const refusals: [string, MachineAnswers][] = [
    ["install: there is no exec-server for FreeBSD, only for Linux, macOS and Windows", {
      ...DEBIAN,
      system: "FreeBSD",
    }],
    [`install: this script is not for Windows: download the .exe of the release ${VERSION} by hand`, {
      ...DEBIAN,
      system: "MINGW64_NT-10.0-26100",
    }],
    ["install: there is no exec-server for riscv64 machines, only for x86_64 and aarch64", {
      ...DEBIAN,
      machine: "riscv64",
    }],
    ["install: the programs of this system are 32-bit ones, and exec-server is a 64-bit one", {
      ...DEBIAN,
      bits: "32",
    }],
    [`${glibc}the one of this system is 2.26`, { ...DEBIAN, libc: "glibc 2.26" }],
    [`${glibc}the one of this system is 1.99`, { ...DEBIAN, libc: "glibc 1.99" }],
    [`${glibc}the one of this system is 2.17`, { system: "Linux", machine: "x86_64", ldd: "ldd (GNU libc) 2.17" }],
    [`${glibc}the one of this system is musl, as on Alpine`, {
      system: "Linux",
      machine: "x86_64",
      bits: "64",
      ldd: "musl libc (x86_64)\nVersion 1.2.5\nDynamic Program Loader",
    }],
    // A getconf that knows the variable, and a C library that does not have it.
    [`${glibc}the one of this system is musl, as on Alpine`, {
      ...DEBIAN,
      libc: "undefined",
      ldd: "musl libc (x86_64)",
    }],
    [`${glibc}this system has none that getconf or ldd could tell the version of`, {
      system: "Linux",
      machine: "x86_64",
    }],
    [`${glibc}this system says of its own 'glibc two.x'`, { ...DEBIAN, libc: "glibc two.x" }],
  ];
  for (const [line, machine] of refusals) {
    assert.deepEqual(await scene.run(machine, CHOICE), { code: 1, stdout: "", stderr: `${line}\n` });
  }
  assert.deepEqual(scene.asked, []);
  assert.deepEqual(namesIn(scene.home), []);
});

Deno.test(
  "install refuses what is not what the list of sums says, and keeps the program that was there",
  options,
  async () => {
    await using scene = await InstallScene.make();
    const directory = `${scene.home}/bin`;
    Deno.mkdirSync(directory);
    Deno.writeTextFileSync(`${directory}/exec-server`, "old");
    const expected = await sumOf("what was built");
    await scene.publish({ [LINUX]: PROGRAM }, `${expected}  ${LINUX}\n`);
    const { code, stderr } = await scene.run(DEBIAN, [...CHOICE, "--to", directory]);
    assert.equal(
      stderr,
      `install: ${scene.releases}/download/v${VERSION}/${LINUX} is not what SHA256SUMS says: ` +
        `its sum is ${await sumOf(PROGRAM)} and not ${expected}\n`,
    );
    assert.equal(code, 1);
    assert.deepEqual(namesIn(directory), ["exec-server"]);
    assert.equal(Deno.readTextFileSync(`${directory}/exec-server`), "old");
  },
);

Deno.test("install replaces a program, a running one too", options, async () => {
  await using scene = await InstallScene.make();
  const directory = `${scene.home}/bin`;
  Deno.mkdirSync(directory);
  // A true executable, which cannot be written to while it runs.
  Deno.copyFileSync("/bin/sleep", `${directory}/exec-server`);
  const running = new Deno.Command(`${directory}/exec-server`, { args: ["60"] }).spawn();
  try {
    await scene.publish({ [LINUX]: PROGRAM });
    const { code, stderr } = await scene.run(DEBIAN, CHOICE, { env: { EXEC_SERVER_INSTALL_DIR: directory } });
    assert.deepEqual([stderr, code], ["", 0]);
    assert.equal(Deno.readTextFileSync(`${directory}/exec-server`), PROGRAM);
  } finally {
    running.kill("SIGKILL");
    await running.status;
  }
});

Deno.test("install keeps the old program if the new one does not run, or is another version", options, async () => {
  await using scene = await InstallScene.make();
  const directory = `${scene.home}/bin`;
  Deno.mkdirSync(directory);
  Deno.writeTextFileSync(`${directory}/exec-server`, "old");
  const cases = [
    [
      "#!/bin/sh\necho 'no such library' >&2\necho more\nexit 127\n",
      `the program does not run in ${directory}: no such library`,
    ],
    [programSaying("exec-server 1.0.0"), `the program of the release ${VERSION} says that it is 'exec-server 1.0.0'`],
  ] as const;
  for (const [program, line] of cases) {
    await scene.publish({ [LINUX]: program });
    const outcome = await scene.run(DEBIAN, [...CHOICE, "--to", directory]);
    assert.deepEqual([outcome.code, outcome.stderr], [1, `install: ${line}\n`]);
    assert.deepEqual(namesIn(directory), ["exec-server"]);
    assert.equal(Deno.readTextFileSync(`${directory}/exec-server`), "old");
  }
});

Deno.test("install says in one line what else is in its way", options, async () => {
  await using scene = await InstallScene.make();
  await scene.publish({ "exec-server-aarch64-linux-gnu": PROGRAM });
  const file = `${scene.home}/file`;
  Deno.writeTextFileSync(file, "");
  Deno.mkdirSync(`${scene.home}/taken/exec-server`, { recursive: true });
  const list = `${scene.releases}/download/v1.2.3/SHA256SUMS`;
  type Case = [string, readonly string[], { readonly env?: Record<string, string>; readonly without?: string[] }?];
  const cases: Case[] = [
    [`the release ${VERSION} has no ${LINUX}`, CHOICE],
    [`cannot download ${list}: curl: (22) The requested URL returned error: 404`, ["--version", "v1.2.3"]],
    ["curl is needed to download, or GNU wget", CHOICE, { without: ["curl"] }],
    ["sha256sum, shasum or openssl is needed to verify what is downloaded", CHOICE, { without: ["sha256sum"] }],
    ["unexpected argument '--force' (there are --to DIRECTORY and --version VERSION)", ["--force"]],
    ["--to needs a value", ["--to"]],
    ["'../1' is no version", ["--version", "../1"]],
    ["which release? Say --version VERSION", []],
    ["HOME is not set: say where to install with --to DIRECTORY", CHOICE, { env: { HOME: "" } }],
    [`cannot make ${file}/bin: say where to install with --to DIRECTORY`, [...CHOICE, "--to", `${file}/bin`]],
    [`${scene.home}/taken/exec-server is a directory`, [...CHOICE, "--to", `${scene.home}/taken`]],
    ["EXEC_SERVER_RELEASES has to be an https address, and is 'http://example.com'", CHOICE, {
      env: { EXEC_SERVER_RELEASES: "http://example.com" },
    }],
    [
      "this copy belongs to the sources and knows no release: take the one of a release, or set EXEC_SERVER_RELEASES",
      CHOICE,
      { env: { EXEC_SERVER_RELEASES: "" } },
    ],
  ];
  for (const [line, args, others] of cases) {
    const outcome = await scene.run(DEBIAN, args, others);
    assert.deepEqual(outcome, { code: 1, stdout: "", stderr: `install: ${line}\n` });
  }
  assert.deepEqual(namesIn(`${scene.home}/.local/bin`), []);
});
