import assert from "node:assert/strict";
import { testBothSides } from "./command_sides.ts";
import { shell, writeNoise } from "./files_of_user.ts";

testBothSides("ls lists directories and files, hidden ones when asked", async ({ user, connect }) => {
  const { home } = user;
  await shell(
    user,
    `mkdir d d/sub; printf 12345 > d/file; touch -d '2001-02-03 04:05' d/file; ln -s file d/link; : > d/.hidden
     : > "d/$(printf 'new\\nline')"; ln -s /nowhere d/dangling`,
  );
  const ls = (...args: string[]) => user.run(["ls", ...connect, ...args]);
  assert.deepEqual(await ls(`${home}/d`), { code: 0, stdout: "file\nlink\nnew\nline\nsub\n", stderr: "" });
  assert.equal((await ls("-a", `env:${home}/d/`)).stdout, ".hidden\nfile\nlink\nnew\nline\nsub\n");
  const long = (await user.run(["ls", ...connect, "-l", `${home}/d`], { env: { TZ: "UTC" } })).stdout;
  assert.match(
    long,
    /^- +5 {2}2001-02-03 04:05 {2}file\nl +5 {2}2001-02-03 04:05 {2}link\n- +0 .*\n.*\nd +- {2}.* {2}sub\n$/,
  );
  const found = (await ls("--json", `${home}/d`)).stdout.trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(found.map(({ name, type, isLink }) => [name, type, isLink]), [
    ["file", "file", false],
    ["link", "file", true],
    ["new\nline", "file", false],
    ["sub", "directory", false],
  ]);
  assert.deepEqual([found[0].path, found[0].size, found[0].modified.slice(0, 10)], [`${home}/d/file`, 5, "2001-02-03"]);
  await Deno.writeTextFile(`${home}/d/sub/a %41`, "123");
  const { path, name, size } = JSON.parse((await ls("--json", `file://${home}/d/sub`)).stdout);
  assert.deepEqual([path, name, size], [`file://${home}/d/sub/a%20%2541`, "a %41", 3], "in a URI names are encoded");
  await Deno.remove(`${home}/d/sub/a %41`);
  assert.deepEqual(await ls(`${home}/d/sub`, `${home}/none`, `${home}/d/file`), {
    code: 1,
    stdout: `${home}/d/sub:\n\n${home}/d/file:\n${home}/d/file\n`,
    stderr: `exec-server: ${home}/none: No such file or directory (os error 2)\n`,
  });
});

testBothSides("ls without a path lists the server's own directory", async ({ user, connect }) => {
  const { code, stdout } = await user.run(["ls", ...connect]);
  assert.equal(code, 0);
  assert.ok(stdout.split("\n").includes("deno.json"), stdout);
});

testBothSides("cat prints files byte for byte", async ({ user, connect }) => {
  const { home } = user;
  await writeNoise(`${home}/a`, 3_000_001);
  await Deno.writeTextFile(`${home}/b`, "end");
  const child = user.spawn(["cat", ...connect, `${home}/a`, `env:${home}/none`, `env:${home}/b`]);
  await child.stdin.close();
  const { code, stdout, stderr } = await child.output();
  assert.equal(code, 1);
  assert.equal(new TextDecoder().decode(stderr), `exec-server: ${home}/none: No such file or directory (os error 2)\n`);
  const wanted = await Deno.readFile(`${home}/a`);
  assert.equal(stdout.length, wanted.length + 3);
  assert.ok(wanted.every((byte, i) => byte === stdout[i]));
  assert.equal(new TextDecoder().decode(stdout.subarray(wanted.length)), "end");

  const lines = (await user.run(["cat", "--json", ...connect, `${home}/a`])).stdout.trim().split("\n");
  const blocks = lines.map((line) => JSON.parse(line));
  assert.deepEqual(blocks.map(({ offset }) => offset), [0, 1_048_576, 2_097_152]);
  assert.equal(blocks.reduce((sum, { base64 }) => sum + Uint8Array.fromBase64(base64).length, 0), 3_000_001);
});

testBothSides("cat ends quietly when nobody reads on", async ({ user, connect }) => {
  await writeNoise(`${user.home}/a`, 5_000_000);
  const text = await shell(
    user,
    `exec-server cat ${connect.join(" ")} '${user.home}/a' 2>err | head -c 3 | wc -c; cat err`,
  );
  assert.equal(text.trim(), "3");
});
