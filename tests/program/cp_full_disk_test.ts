import assert from "node:assert/strict";
import { mayMount } from "../fs/linux/mounts.ts";
import { CommandLine, type Finished } from "./command_line.ts";
import { leftovers, shell, writeNoise } from "./files_of_user.ts";
import { OUR_COMMAND, RunningServer } from "./running_server.ts";

const whereMountable = { ignore: !mayMount };

/** A command that sees a disk of 3 MB at `small` and one that cannot be written at `fixed`. */
function withDisks(user: CommandLine, command: readonly string[]): [string, ...string[]] {
  const script = `mount -t tmpfs -o size=3m none '${user.home}/small'; mount -t tmpfs -o ro none '${user.home}/fixed'
    echo old > '${user.home}/small/target'; exec "$0" "$@"`;
  return ["unshare", "--mount", "--propagation", "private", "sh", "-ec", script, ...command];
}

async function scene() {
  const user = await CommandLine.create();
  await shell(
    user,
    "mkdir small fixed far tree; head -c 2000000 /dev/urandom > tree/a; cp tree/a tree/b; cp tree/a tree/c",
  );
  await writeNoise(`${user.home}/big`, 5_000_000);
  return user;
}

Deno.test(
  "cp to a disk that is full or cannot be written says so, and leaves the target as it was",
  whereMountable,
  async () => {
    await using user = await scene();
    await using server = await RunningServer.start({ command: withDisks(user, OUR_COMMAND) });
    const { home } = user;
    const cp = (...operands: string[]) => user.run(["cp", "--connect", server.url, ...operands]);
    const cat = (path: string) => user.run(["cat", "--connect", server.url, path]);
    const ls = (path: string) => user.run(["ls", "-a", "--connect", server.url, path]);

    const full = await cp("big", `env:${home}/small/target`);
    assert.deepEqual(full, {
      code: 1,
      stdout: "",
      stderr: `exec-server: env:${home}/small/target: No space left on device (os error 28)\n`,
    });
    assert.equal((await cat(`${home}/small/target`)).stdout, "old\n");
    const tree = await cp("tree", `env:${home}/small/tree`);
    assert.equal(tree.code, 1);
    assert.match(tree.stderr, /the tree could not be unpacked: .*tar: .*No space left on device/);
    assert.equal((await ls(`${home}/small`)).stdout, "target\n");
    const fixed = await cp("big", `env:${home}/fixed/x`);
    assert.deepEqual([fixed.code, fixed.stderr], [
      1,
      `exec-server: env:${home}/fixed/x: Read-only file system (os error 30)\n`,
    ]);
  },
);

Deno.test("cp from the environment to a full disk says so, and leaves nothing", whereMountable, async () => {
  await using user = await scene();
  await using server = await RunningServer.start({ command: OUR_COMMAND });
  const { home } = user;
  // The listing is made where the disk can be seen.
  const cp = async (from: string, to: string): Promise<Finished> => {
    const script =
      `code=0; "$0" cp --connect '${server.url}' 'env:${from}' '${to}' || code=$?; ls -A small; exit $code`;
    const [program, ...args] = withDisks(user, ["sh", "-c", script, `${home}/bin/exec-server`]);
    const command = new Deno.Command(program, { args, cwd: home, clearEnv: true, env: user.env, stdin: "null" });
    const { code, stdout, stderr } = await command.output();
    return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
  };
  assert.deepEqual(await cp(`${home}/big`, "small/target"), {
    code: 1,
    stdout: "target\n",
    stderr: `exec-server: ${home}/small/target: No space left on device (os error 28)\n`,
  });
  const tree = await cp(`${home}/tree`, "small/tree");
  assert.deepEqual([tree.code, tree.stdout], [1, "target\n"]);
  assert.match(tree.stderr, /the tree could not be unpacked: .*tar: .*No space left on device/);
  const fixed = await cp(`${home}/big`, "fixed/x");
  assert.equal(fixed.code, 1);
  assert.match(fixed.stderr, /Read-only file system/);
  assert.deepEqual(leftovers(user), []);
});
