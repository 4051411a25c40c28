import assert from "node:assert/strict";
import * as posix from "./posix.ts";

const ignore = Deno.build.os !== "linux";

/** A directory of its own for a test. */
async function scratch(): Promise<AsyncDisposable & { path: string }> {
  const path = await Deno.realPath(await Deno.makeTempDir({ prefix: "exec-server-posix-" }));
  return {
    path,
    [Symbol.asyncDispose]: () => {
      posix.removeTree(path);
      return Promise.resolve();
    },
  };
}

Deno.test({ name: "names that are not UTF-8 come back as they were made", ignore }, async () => {
  await using directory = await scratch();
  const names = ["\xff\xfe", "a\nb", posix.bytePath("é")];
  for (const name of names) posix.write(`${directory.path}/${name}`, new Uint8Array([1, 2, 3]), 2);
  assert.deepEqual(posix.list(directory.path), names.toSorted());
  assert.deepEqual(posix.read(`${directory.path}/\xff\xfe`, 100), new Uint8Array([0, 0, 1, 2, 3]));
});

Deno.test({ name: "lstat tells kinds, modes, times and hard links", ignore }, async () => {
  await using directory = await scratch();
  const at = (name: string) => `${directory.path}/${name}`;
  posix.write(at("file"), new Uint8Array(5));
  posix.chmod(at("file"), 0o6741);
  posix.setTime(at("file"), -5, 0);
  posix.link(at("file"), at("twin"));
  posix.symlink("\xffx", at("link"));
  posix.mkfifo(at("fifo"));
  assert.equal(posix.bindSocket(at("socket")), true);
  const status = posix.lstat(at("file"))!;
  assert.deepEqual({ ...status, identity: "" }, {
    kind: "file",
    mode: 0o6741,
    size: 5,
    linkCount: 2,
    identity: "",
    modifiedMs: -5000,
  });
  assert.equal(posix.lstat(at("twin"))!.identity, status.identity);
  assert.equal(posix.readlink(at("link")), "\xffx");
  assert.deepEqual(["link", "fifo", "socket"].map((name) => posix.lstat(at(name))!.kind), ["link", "fifo", "socket"]);
  assert.equal(posix.lstat(at("file/x")), null);
});

Deno.test(
  { name: "removeTree removes directories without any rights, and links instead of what they lead to", ignore },
  async () => {
    await using directory = await scratch();
    await using other = await scratch();
    posix.write(`${other.path}/kept`, new Uint8Array());
    posix.mkdir(`${directory.path}/shut`);
    posix.mkdir(`${directory.path}/shut/in`);
    posix.symlink(other.path, `${directory.path}/shut/in/out`);
    posix.chmod(`${directory.path}/shut`, 0);
    posix.removeTree(`${directory.path}/shut`);
    assert.deepEqual(posix.list(directory.path), []);
    assert.deepEqual(posix.list(other.path), ["kept"]);
  },
);

Deno.test({ name: "removeTree removes what is too deep to have a path", ignore }, async () => {
  await using directory = await scratch();
  const top = `${directory.path}/top`;
  posix.mkdir(top);
  for (let grown = 0; grown < 3; grown++) { // from the inside out: moved into longer and longer paths
    const inner = posix.lstat(`${top}/inner`) === null ? null : `${top}/inner`;
    let path = `${top}/outer`;
    posix.mkdir(path);
    for (; path.length < 2_500;) posix.mkdir(path += `/${"n".repeat(200)}`);
    if (inner !== null) posix.rename(inner, `${path}/inner`);
    posix.rename(`${top}/outer`, `${top}/inner`);
  }
  posix.removeTree(top);
  assert.deepEqual(posix.list(directory.path), []);
});
