import assert from "node:assert/strict";
import { CommandLine } from "./command_line.ts";
import { OUR_COMMAND, RunningServer } from "./running_server.ts";
import { leftovers, shell } from "./files_of_user.ts";

const onLinux = { ignore: Deno.build.os !== "linux" };

/** A server whose PATH has nothing but these programs. */
async function serverWith(user: CommandLine, programs: readonly string[]): Promise<RunningServer> {
  const path = `${user.home}/few`;
  await Deno.mkdir(path);
  for (const name of programs) await Deno.symlink((await shell(user, `command -v ${name}`)).trim(), `${path}/${name}`);
  return await RunningServer.start({ command: ["/usr/bin/env", `PATH=${path}`, ...OUR_COMMAND] });
}

Deno.test(
  "cp copies a tree file by file where the other side has no tar, and says what was not kept",
  onLinux,
  async () => {
    await using user = await CommandLine.create();
    await using server = await serverWith(user, ["sh", "mv", "mkdir", "chmod", "ls"]);
    const { home } = user;
    await shell(
      user,
      "mkdir -p tree/a/empty; echo x > 'tree/a/new\nline'; chmod 755 tree/a/new*; ln -s a tree/link; mkfifo tree/fifo",
    );
    const cp = (...operands: string[]) => user.run(["cp", "--json", "--connect", server.url, ...operands]);
    const up = await cp("tree", `env:${home}/far`);
    assert.equal(up.code, 1, "a link is missing");
    const { files, directories, complete, notes } = JSON.parse(up.stdout);
    assert.deepEqual([files, directories, complete], [1, 3, false]);
    assert.deepEqual(notes.slice(0, 2), [
      "left out: tree/fifo: only files, directories and links are copied",
      "left out: tree/link: links are copied only where both sides have tar",
    ]);
    assert.match(notes[2], /times and the permission bits of directories were not kept/);
    assert.equal(
      await shell(user, "cd far; find . | sort; stat -c %a a/new*"),
      ".\n./a\n./a/empty\n./a/new\nline\n755\n",
    );

    const down = await cp(`env:${home}/tree`, "back");
    assert.equal(down.code, 1);
    assert.match(down.stderr, /left out: env:.*\/tree\/link: links are copied only where both sides have tar/);
    assert.equal(
      await shell(user, "cd back; find . | sort; stat -c %a a/new*"),
      ".\n./a\n./a/empty\n./a/new\nline\n755\n",
    );
    assert.deepEqual(leftovers(user), []);
  },
);

Deno.test("cp puts a file in place by a copy where the other side has no programs at all", onLinux, async () => {
  await using user = await CommandLine.create();
  await using server = await serverWith(user, []);
  const { home } = user;
  await Deno.writeTextFile(`${home}/new`, "new content");
  await Deno.writeTextFile(`${home}/target`, "old");
  const { code, stderr } = await user.run(["cp", "--connect", server.url, "new", `env:${home}/target`]);
  assert.equal(code, 0);
  assert.match(stderr, /permission bits were not kept: the other machine has no chmod/);
  assert.match(stderr, /not put in place at once: there is no mv for it on the other machine/);
  assert.equal(await Deno.readTextFile(`${home}/target`), "new content");
  const back = await user.run(["cp", "--connect", server.url, `env:${home}/target`, "back"]);
  assert.equal(back.code, 0);
  assert.match(back.stderr, /permission bits were not kept: the other machine does not tell them/);
  assert.equal(await Deno.readTextFile(`${home}/back`), "new content");
  assert.deepEqual(leftovers(user), []);
});
