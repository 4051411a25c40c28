import assert from "node:assert/strict";
import { CommandLine } from "./command_line.ts";
import { testBothSides } from "./command_sides.ts";
import { describeTree, leftovers, shell } from "./files_of_user.ts";
import { OUR_COMMAND, RunningServer } from "./running_server.ts";

/** Whatever a tree can hold that travels. */
const TREE = `
  mkdir -p tree/a/empty tree/b "tree/$(printf 'd%0150d' 0)"
  printf hi > tree/a/file; chmod 751 tree/a/file; : > tree/nothing; chmod 400 tree/nothing
  printf x > "tree/$(printf 'new\\nline')"; printf x > "tree/$(printf '\\377\\376')"; printf x > tree/-rf
  printf x > "tree/it's \\"quoted\\" \\$HOME \\\\"; printf x > 'tree/ blank '; printf x > 'tree/*'
  head -c 3000000 /dev/urandom > tree/large
  ln -s a/file tree/link; ln -s /nowhere tree/dangling; ln -s . tree/self; ln tree/a/file tree/hard
  touch -d 2001-02-03T04:05:06Z tree/b; touch -d 1969-01-01 tree/a/file; chmod 1777 tree/b; chmod 711 tree`;

testBothSides("cp brings a tree and fetches it: odd names, links, empty directories, bits, times", async (scene) => {
  const { user, connect } = scene;
  const { home } = user;
  await shell(user, TREE);
  const before = await describeTree(user, "tree");
  assert.deepEqual(await user.run(["cp", ...connect, "tree", `env:${home}/far`]), { code: 0, stdout: "", stderr: "" });
  assert.equal(await describeTree(user, "far"), before);
  assert.deepEqual(await user.run(["cp", ...connect, `env:${home}/far`, "back"]), { code: 0, stdout: "", stderr: "" });
  assert.equal(await describeTree(user, "back"), before);
  assert.equal(await shell(user, "stat -c %h back/hard"), "2\n", "hard links are links");
  assert.deepEqual(leftovers(user), []);
  assert.deepEqual(await Array.fromAsync(Deno.readDir(`${home}/tmp`)), [], "no archive is left");
});

testBothSides("cp adds a tree to a directory that exists, or goes into it", async ({ user, connect }) => {
  const { home } = user;
  await shell(user, "mkdir -p tree/sub far/sub; echo new > tree/sub/a; echo old > far/sub/a; echo kept > far/sub/b");
  const cp = (...operands: string[]) => user.run(["cp", ...connect, ...operands]);
  assert.deepEqual(await cp("tree/.", `env:${home}/far`), { code: 0, stdout: "", stderr: "" });
  assert.equal(await shell(user, "cat far/sub/a far/sub/b"), "new\nkept\n");
  assert.equal((await cp("tree", `env:${home}/far`)).code, 0);
  assert.equal(await shell(user, "cat far/tree/sub/a; ls far"), "new\nsub\ntree\n");
  assert.equal((await cp(`env:${home}/far/tree`, "far")).code, 0);
  assert.equal((await cp(`env:${home}/far/.`, "here")).code, 0);
  assert.equal(await shell(user, "ls here"), "sub\ntree\n");
  assert.deepEqual(leftovers(user), []);
});

/** Root may write to what nobody may; in a namespace of its own it is somebody else. */
const AS_OTHERS = Deno.build.os === "linux" && Deno.uid() === 0
  ? ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--"]
  : [];
const isOther = AS_OTHERS.length === 0 ||
  new Deno.Command(AS_OTHERS[0]!, { args: [...AS_OTHERS.slice(1), "true"] }).outputSync().success;

Deno.test(
  "cp brings and fetches trees that may not be written to, and leaves what is added to as it was",
  { ignore: Deno.build.os !== "linux" || !isOther },
  async () => {
    await using user = await CommandLine.create();
    const [program, ...words] = [...AS_OTHERS, ...OUR_COMMAND] as [string, ...string[]];
    await using server = await RunningServer.start({ command: [program, ...words] });
    await shell(user, "mkdir -p ro/sub here there; echo x > ro/sub/file; chmod 400 ro/sub/file; chmod 555 ro/sub ro");
    const script = await Deno.readTextFile(`${user.home}/bin/exec-server`);
    await Deno.writeTextFile(`${user.home}/bin/exec-server`, script.replace("exec ", `exec ${AS_OTHERS.join(" ")} `));
    const before = await describeTree(user, "ro");
    try {
      const far = `env:${user.home}`;
      for (
        const operands of [["ro", `${far}/new`], [`${far}/ro`, "back"], ["ro/.", `${far}/there`], [
          `${far}/ro/.`,
          "here",
        ]]
      ) {
        const finished = await user.run(["cp", "--connect", server.url, ...operands]);
        assert.deepEqual(finished, { code: 0, stdout: "", stderr: "" }, operands.join(" "));
      }
      for (const copy of ["new", "back"]) assert.equal(await describeTree(user, copy), before);
      assert.equal(
        await shell(user, "stat -c '%a %n' here there here/sub there/sub here/sub/file there/sub/file"),
        "755 here\n755 there\n555 here/sub\n555 there/sub\n400 here/sub/file\n400 there/sub/file\n",
      );
      assert.deepEqual(leftovers(user), []);
    } finally {
      await shell(user, "chmod -R u+w .");
    }
  },
);

testBothSides("cp leaves devices, fifos and set-id bits behind", async ({ user, connect }) => {
  const { home } = user;
  await shell(user, "mkdir tree; mkfifo tree/fifo; echo x > tree/su; chmod 6755 tree/su");
  const said = "exec-server: left out: fifo: only files, directories and links are copied\n";
  assert.deepEqual(await user.run(["cp", ...connect, "tree", `env:${home}/far`]), {
    code: 0,
    stdout: "",
    stderr: said,
  });
  assert.equal(await shell(user, "ls far; stat -c %a far/su"), "su\n755\n");
  assert.deepEqual(await user.run(["cp", ...connect, `env:${home}/tree`, "back"]), {
    code: 0,
    stdout: "",
    stderr: said,
  });
  assert.equal(await shell(user, "ls back; stat -c %a back/su"), "su\n755\n");
});

testBothSides("cp says what tar could not read, and copies the rest", async ({ user, connect }) => {
  const { home } = user;
  await shell(user, "mkdir tree; echo x > tree/file");
  // A tar that complains: what cannot be read depends on who runs the test.
  const complaint = "tar: ./secret: Cannot open: Permission denied";
  const tar = (await shell(user, "command -v tar")).trim();
  const script = `#!/bin/sh\n'${tar}' "$@"\ncase "$*" in *-cf*) echo '${complaint}' >&2; exit 2;; esac\n`;
  await Deno.writeTextFile(`${home}/bin/tar`, script, { mode: 0o755 });
  assert.deepEqual(await user.run(["cp", ...connect, "tree", `env:${home}/far`]), {
    code: 1,
    stdout: "",
    stderr: `exec-server: ${complaint}\n`,
  });
  assert.equal(await shell(user, "cat far/file"), "x\n");
  assert.deepEqual(leftovers(user), []);
});
