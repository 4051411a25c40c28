import assert from "node:assert/strict";
import { cString } from "../../lib/linux/cstring.ts";
import { EAGAIN, EBADF, ECHILD, ENOENT, EPIPE, ESRCH } from "../../lib/linux/errno.ts";
import * as libc from "../../lib/linux/libc.ts";
import { bytes, leftOpen, openDescriptors } from "../support/linux.ts";

function openPipe(): readonly [number, number] {
  const ends = libc.pipe();
  if (typeof ends === "number") throw new Error(`errno ${-ends}`);
  return ends;
}

Deno.test("what is written to a pipe is read from it, and errors are negated numbers", () => {
  const [reading, writing] = openPipe();
  const buffer = new Uint8Array(8);
  assert.equal(libc.write(writing, bytes("hello")), 5);
  assert.equal(libc.readableBytes(reading), 5);
  assert.equal(libc.read(reading, buffer), 5);
  assert.deepEqual(buffer.subarray(0, 5), bytes("hello"));
  libc.setNonBlocking(reading);
  assert.equal(libc.read(reading, buffer), -EAGAIN);
  libc.close(reading);
  assert.equal(libc.write(writing, bytes("x")), -EPIPE);
  libc.close(writing);
  assert.equal(libc.read(reading, buffer), -EBADF);
});

Deno.test("the ends of a pipe are not inherited", () => {
  const ends = openPipe();
  for (const fd of ends) {
    assert.match(Deno.readTextFileSync(`/proc/self/fdinfo/${fd}`), /^flags:\s+02\d{6}$/m); // O_CLOEXEC
    libc.close(fd);
  }
});

Deno.test("a file in memory is written at any place", () => {
  const before = openDescriptors();
  const file = libc.memoryFile(cString("test"));
  assert.equal(libc.pwrite(file, bytes("world"), 6), 5);
  assert.equal(libc.pwrite(file, bytes("hello "), 0), 6);
  assert.equal(Deno.readTextFileSync(`/proc/self/fd/${file}`), "hello world");
  libc.close(file);
  assert.deepEqual(leftOpen(before), []);
});

Deno.test("access tells what the user may do", () => {
  assert.equal(libc.access(cString("/bin/sh"), libc.X_OK), 0);
  assert.equal(libc.access(cString("/no/such"), libc.F_OK), -ENOENT);
});

Deno.test("processes are asked about without sending them anything", () => {
  assert.equal(libc.probeProcess(Deno.pid), 0);
  assert.equal(libc.probeProcess(0x3ffffff), -ESRCH); // more than any process id
  assert.equal(libc.openProcessDescriptor(0x3ffffff), -ESRCH);
  assert.equal(libc.reap(Deno.pid), -ECHILD);
});
