import assert from "node:assert/strict";
import { testBothSides } from "./command_sides.ts";
import { leftovers, sameContent, writeNoise } from "./files_of_user.ts";

const TWENTY_MB = 20_000_000;
const unknownFile = "No such file or directory (os error 2)";

testBothSides("cp brings a file of 20 MB and fetches it, with its permission bits", async ({ user, connect }) => {
  const { home } = user;
  await writeNoise(`${home}/big`, TWENTY_MB);
  await Deno.chmod(`${home}/big`, 0o750);
  await Deno.mkdir(`${home}/far`);
  assert.deepEqual(await user.run(["cp", ...connect, "big", `env:${home}/far/`]), { code: 0, stdout: "", stderr: "" });
  await sameContent(`${home}/big`, `${home}/far/big`);
  const { code, stdout } = await user.run(["cp", "--json", ...connect, `env:${home}/far/big`, "back"]);
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout), { files: 1, directories: 0, bytes: TWENTY_MB, complete: true, notes: [] });
  await sameContent(`${home}/big`, `${home}/back`);
  for (const path of ["far/big", "back"]) assert.equal((await Deno.stat(`${home}/${path}`)).mode! & 0o7777, 0o750);
  assert.deepEqual(leftovers(user), []);
});

testBothSides("cp goes by the rules of cp for directories, existing files and links", async ({ user, connect }) => {
  const { home } = user;
  const cp = (...operands: string[]) => user.run(["cp", ...connect, ...operands]);
  await Deno.writeTextFile(`${home}/a`, "new");
  await Deno.writeTextFile(`${home}/b`, "b");
  await Deno.mkdir(`${home}/far/dir`, { recursive: true });
  await Deno.writeTextFile(`${home}/far/old`, "old");
  await Deno.symlink("old", `${home}/far/link`);
  await Deno.symlink("nowhere", `${home}/far/dangling`);
  const far = `env:${home}/far`;

  assert.equal((await cp("a", "b", far)).code, 0, "several files into a directory");
  assert.equal(await Deno.readTextFile(`${home}/far/b`), "b");
  assert.equal((await cp("a", `${far}/link`)).code, 0, "a link stays, and what it leads to is replaced");
  assert.equal(await Deno.readTextFile(`${home}/far/old`), "new");
  assert.ok((await Deno.lstat(`${home}/far/link`)).isSymlink);
  assert.equal((await cp(`env:file://${home}/far/old`, "percent%41")).code, 0, "a URI");
  assert.equal(await Deno.readTextFile(`${home}/percent%41`), "new");

  const refusals: [string[], string][] = [
    [["a", `${far}/no/a`], `${far}/no does not exist, so nothing can be put there`],
    [["a", `${far}/no/`], `there is no directory ${far}/no`],
    [
      ["a", `${far}/dangling`],
      `${far}/dangling is a link that leads nowhere; remove it, or name what it should lead to`,
    ],
    [["a", `${far}/old/`], `${far}/old is not a directory`],
    [[far, "a"], `a is a file, and ${far} is a directory`],
    [["missing", far], `No such file or directory (os error 2): stat 'missing'`],
    [[`${far}/missing`, "x"], `${far}/missing: ${unknownFile}`],
    [["a", "env:/dev/null"], "env:/dev/null is neither a file nor a directory, and is not replaced"],
  ];
  for (const [operands, words] of refusals) {
    assert.deepEqual(await cp(...operands), { code: 1, stdout: "", stderr: `exec-server: ${words}\n` });
  }
  assert.deepEqual(leftovers(user), []);
});

testBothSides("cp reads standard input and writes standard output", async ({ user, connect }) => {
  const { home } = user;
  assert.equal((await user.run(["cp", ...connect, "-", `env:${home}/x`], { input: "hello" })).code, 0);
  await Deno.chmod(`${home}/x`, 0o700);
  assert.equal((await user.run(["cp", ...connect, "-", `env:${home}/x`], { input: "hello again" })).code, 0);
  assert.equal((await Deno.stat(`${home}/x`)).mode! & 0o777, 0o700, "what is replaced gives its permission bits");
  assert.deepEqual(await user.run(["cp", ...connect, `env:${home}/x`, "-"]), {
    code: 0,
    stdout: "hello again",
    stderr: "",
  });
  const { code, stderr } = await user.run(["cp", ...connect, "-", `env:${home}`], { input: "x" });
  assert.deepEqual([code, stderr], [
    1,
    `exec-server: env:${home} is a directory, and standard input has no name to be given in it\n`,
  ]);
});

testBothSides("cp fetches what has no size, and names that only bytes can say", async ({ user, connect }) => {
  assert.equal((await user.run(["cp", ...connect, "env:/proc/version", "version"])).code, 0);
  assert.equal(await Deno.readTextFile(`${user.home}/version`), await Deno.readTextFile("/proc/version"));
  const uri = `env:file://${user.home}/bad%FF`;
  const sent = await user.run(["cp", ...connect, "version", uri]);
  assert.deepEqual([sent.code, sent.stdout], [0, ""]);
  assert.match(sent.stderr, /not put in place at once: there is no mv for it/);
  const fetched = await user.run(["cp", ...connect, uri, "back"]);
  assert.equal(fetched.code, 0);
  assert.equal(await Deno.readTextFile(`${user.home}/back`), await Deno.readTextFile("/proc/version"));
  assert.deepEqual(leftovers(user), []);
});

testBothSides("cp without a direction says how to write one", async ({ user, connect }) => {
  for (
    const [operands, words] of [
      [["a", "b"], /one side has to be in the environment: write it as env:PATH/],
      [["env:a", "env:b"], /both sides are in the environment/],
      [["a"], /what is missing: TARGET/],
      [["-", "a", "env:b"], /standard input can only be the one source/],
      [["--json", "env:a", "-"], /'--json' cannot be used with '-' as the target/],
    ] as const
  ) {
    const { code, stderr } = await user.run(["cp", ...connect, ...operands]);
    assert.equal(code, 2);
    assert.match(stderr, words);
  }
});
