import assert from "node:assert/strict";
import { EBADF, ELOOP, ENOENT, EPERM } from "../../lib/linux/errno.ts";
import * as calls from "../../lib/linux/sandbox_calls.ts";
import { leftOpen, openDescriptors } from "../support/linux.ts";

Deno.test("a path with a link anywhere in it is not opened", () => {
  const root = Deno.realPathSync(Deno.makeTempDirSync());
  const before = openDescriptors();
  Deno.mkdirSync(`${root}/real/sub`, { recursive: true });
  Deno.symlinkSync("real", `${root}/link`);
  const open = (path: string) => calls.openWithoutLinks(calls.AT_FDCWD, calls.cBytes(path), calls.O_PATH);
  const fd = open(`${root}/real/sub`);
  assert.ok(fd > 2);
  calls.close(fd);
  for (const path of ["link", "link/sub", "real/sub/../../link"]) assert.equal(open(`${root}/${path}`), -ELOOP, path);
  assert.equal(open(`${root}/none`), -ENOENT);
  assert.deepEqual(leftOpen(before), []);
  Deno.removeSync(root, { recursive: true });
});

Deno.test("a sealed file can be read and not written any more", () => {
  const fd = calls.sealableFile(calls.cBytes("test"));
  assert.equal(calls.write(fd, calls.rawBytes("text")), 4);
  assert.equal(calls.sealsOf(fd), 0);
  assert.equal(calls.seal(fd), 0);
  assert.equal(calls.sealsOf(fd), calls.ALL_SEALS);
  assert.equal(calls.write(fd, calls.rawBytes("more")), -EPERM);
  const buffer = calls.rawBytes("\0".repeat(8));
  assert.equal(calls.pread(fd, buffer, 1), 3);
  assert.deepEqual([...buffer.subarray(0, 4)], [0x65, 0x78, 0x74, 0]);
  calls.close(fd);
  assert.equal(calls.sealsOf(fd), -EBADF);
});

Deno.test("strings for C lie behind their table of pointers", () => {
  const { block } = calls.cStrings(["a", "", "\xffb"]);
  const table = new BigUint64Array(block.buffer, 0, 4);
  const start = Deno.UnsafePointer.value(Deno.UnsafePointer.of(block));
  assert.deepEqual([...table], [start + 32n, start + 34n, start + 35n, 0n]);
  assert.deepEqual([...block.subarray(32)].slice(0, 6), [0x61, 0, 0, 0xff, 0x62, 0]);
});

Deno.test("one file has one identity, however it was opened", () => {
  const open = (path: string) => calls.openWithoutLinks(calls.AT_FDCWD, calls.cBytes(path), calls.O_PATH);
  const [one, again, other] = [open("/usr"), open("/usr"), open("/etc")];
  assert.equal(calls.identity(one), calls.identity(again));
  assert.notEqual(calls.identity(one), calls.identity(other));
  for (const fd of [one, again, other]) calls.close(fd);
  assert.equal(calls.identity(one), -EBADF);
});
