import assert from "node:assert/strict";
import { testBothSides } from "./command_sides.ts";
import { describeTree, leftovers, shell } from "./files_of_user.ts";

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
