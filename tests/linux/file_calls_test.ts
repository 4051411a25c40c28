import assert from "node:assert/strict";
import { inBackground } from "../../lib/linux/background.ts";
import { cString } from "../../lib/linux/cstring.ts";
import { EAGAIN, EBADF, EINVAL, EOPNOTSUPP } from "../../lib/linux/errno.ts";
import * as calls from "../../lib/linux/file_calls.ts";
import { close, O_CLOEXEC, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } from "../../lib/linux/libc.ts";
import { openDescriptors } from "../support/linux.ts";
import { pattern, Scratch } from "../fs/scratch.ts";

const ignore = Deno.build.os !== "linux";

/** Opens a file for the length of a scope. */
function opened(path: string, flags: number): Disposable & { readonly fd: number } {
  const fd = calls.openAt(calls.AT_FDCWD, cString(path), flags | O_CLOEXEC, 0o600);
  assert.ok(fd >= 0, `error ${-fd}`);
  return { fd, [Symbol.dispose]: () => close(fd) };
}

Deno.test("reads and writes at a place do not move the place of the others", { ignore }, async () => {
  using scratch = new Scratch();
  using file = opened(`${scratch.root}/file`, O_RDWR | calls.O_CREAT);
  const { fd } = file;
  assert.equal(await calls.writeInBackground(fd, pattern(10)), 10);
  assert.equal(calls.pwrite(fd, pattern(5, 1), 20n), 5);
  assert.equal(await calls.pwriteInBackground(fd, pattern(5, 2), 25n), 5);
  assert.equal(await calls.writeInBackground(fd, pattern(3, 3)), 3);
  const expected = new Uint8Array(30);
  expected.set(pattern(10));
  expected.set(pattern(3, 3), 10);
  expected.set(pattern(5, 1), 20);
  expected.set(pattern(5, 2), 25);
  assert.deepEqual(scratch.read("file"), expected);
  const buffer = new Uint8Array(100);
  assert.equal(calls.pread(fd, buffer, 20n), 10);
  assert.deepEqual(buffer.subarray(0, 10), expected.subarray(20));
  assert.equal(await calls.preadInBackground(fd, buffer, 0n), 30);
  assert.deepEqual(buffer.subarray(0, 30), expected);
  assert.equal(await calls.readInBackground(fd, buffer), 17, "from where was written last");
});

Deno.test("preadNow reads what is in memory, or says that it cannot know", { ignore }, () => {
  using scratch = new Scratch();
  scratch.write("file", pattern(1000));
  using file = opened(`${scratch.root}/file`, O_RDONLY);
  const buffer = new Uint8Array(600);
  const count = calls.preadNow(file.fd, buffer, calls.CURRENT_POSITION);
  // What has just been written is in memory; a temporary directory in memory itself does not support the question.
  if (count !== -EOPNOTSUPP) {
    assert.equal(count, 600);
    assert.deepEqual(buffer, pattern(1000).subarray(0, 600));
    assert.equal(calls.preadNow(file.fd, buffer, calls.CURRENT_POSITION), 400, "the place has moved");
    assert.equal(calls.preadNow(file.fd, buffer, calls.CURRENT_POSITION), 0);
    assert.equal(calls.preadNow(file.fd, buffer, 990n), 10);
  }
  using proc = opened("/proc/self/stat", O_RDONLY);
  assert.equal(calls.preadNow(proc.fd, buffer, calls.CURRENT_POSITION), -EOPNOTSUPP);
});

Deno.test("calls on other threads tell the error number as well", { ignore }, async () => {
  using scratch = new Scratch();
  scratch.write("file", "x");
  scratch.fifo("fifo");
  using reader = opened(`${scratch.root}/file`, O_RDONLY);
  using writer = opened(`${scratch.root}/file`, O_WRONLY);
  using _fifoReader = opened(`${scratch.root}/fifo`, O_RDWR | O_NONBLOCK);
  using fifo = opened(`${scratch.root}/fifo`, O_WRONLY | O_NONBLOCK);
  const buffer = new Uint8Array(1024 * 1024);
  assert.equal(await calls.preadInBackground(writer.fd, buffer, 0n), -EBADF);
  assert.equal(await calls.readInBackground(writer.fd, buffer), -EBADF);
  assert.equal(await calls.pwriteInBackground(reader.fd, buffer, 0n), -EBADF);
  assert.equal(await calls.writeInBackground(reader.fd, buffer), -EBADF);
  assert.equal(await calls.truncateInBackground(reader.fd, 0), -EINVAL);
  assert.equal(calls.preadNow(writer.fd, buffer, 0n), -EBADF);
  while (await calls.writeInBackground(fifo.fd, buffer) > 0);
  assert.equal(await calls.writeInBackground(fifo.fd, buffer), -EAGAIN);
});

Deno.test("a file is cut and closed on another thread as here", { ignore }, async () => {
  using scratch = new Scratch();
  scratch.write("file", "hello");
  const fd = calls.openAt(calls.AT_FDCWD, cString(`${scratch.root}/file`), O_RDWR | O_CLOEXEC);
  assert.equal(await calls.truncateInBackground(fd, 3), 0);
  assert.equal(scratch.read("file").length, 3);
  assert.equal(calls.truncate(fd, 0), 0);
  assert.equal(scratch.read("file").length, 0);
  assert.ok(openDescriptors().has(fd));
  await calls.closeInBackground(fd);
  assert.ok(!openDescriptors().has(fd));
});

Deno.test("FileStatus tells what kind of file it is, which, how large and how old", { ignore }, () => {
  using scratch = new Scratch();
  scratch.write("file", "hello");
  scratch.link("link", "file");
  Deno.linkSync(`${scratch.root}/file`, `${scratch.root}/same`);
  Deno.utimeSync(`${scratch.root}/file`, -1.5, -1.5);
  const status = (name: string, flags: number) => {
    const status = new calls.FileStatus();
    assert.equal(calls.statusAt(calls.AT_FDCWD, cString(`${scratch.root}/${name}`), flags, status), 0);
    return status;
  };
  const file = status("file", 0), same = status("same", 0), link = status("link", calls.AT_SYMLINK_NOFOLLOW);
  const directory = status("", 0);
  assert.deepEqual([file.kind, link.kind, directory.kind], [calls.S_IFREG, calls.S_IFLNK, calls.S_IFDIR]);
  assert.deepEqual([file.size, link.size, file.modifiedMs], [5, 4, -1500]);
  assert.deepEqual([same.inode, same.device], [file.inode, file.device]);
  assert.notEqual(link.inode, file.inode);
  assert.ok(file.createdMs === 0 || Math.abs(file.createdMs - Date.now()) < 60_000);
});

Deno.test("what makes and removes names waits for its place among the calls on other threads", { ignore }, async () => {
  using scratch = new Scratch();
  scratch.write("old", pattern(1));
  const names = () => [...Deno.readDirSync(scratch.root)].map(({ name }) => name).sort();
  const path = (name: string) => cString(`${scratch.root}/${name}`);
  const others = Promise.withResolvers<void>();
  const places = Array.from({ length: 24 }, () => inBackground(() => others.promise));
  const results = Promise.all([
    calls.openAtInBackground(calls.AT_FDCWD, path("new"), O_WRONLY | calls.O_CREAT | O_CLOEXEC, 0o600),
    calls.makeDirectoryAtInBackground(calls.AT_FDCWD, path("directory"), 0o700),
    calls.unlinkAtInBackground(calls.AT_FDCWD, path("old"), 0),
  ]);
  await calls.otherBusiness();
  assert.deepEqual(names(), ["old"]);
  others.resolve();
  await Promise.all(places);
  const [fd, made, removed] = await results;
  close(fd);
  assert.deepEqual([made, removed], [0, 0]);
  assert.deepEqual(names(), ["directory", "new"]);
});
