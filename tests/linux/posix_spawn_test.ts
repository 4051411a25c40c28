import assert from "node:assert/strict";
import { cString, cStringArray } from "../../lib/linux/cstring.ts";
import { ENOENT, ENOTDIR } from "../../lib/linux/errno.ts";
import * as libc from "../../lib/linux/libc.ts";
import { closeInheritedOnExec, inDirectory, posixSpawn } from "../../lib/linux/posix_spawn.ts";
import { leftOpen, openDescriptors } from "../support/linux.ts";

// What stands in for functions that an old C library lacks; the others are tested by every start.

Deno.test("inDirectory acts in another directory and comes back, also from a failure", () => {
  const here = Deno.cwd();
  const before = openDescriptors();
  let seen = "";
  assert.equal(
    inDirectory(cString("/usr"), () => {
      seen = Deno.cwd();
      return 7;
    }),
    7,
  );
  assert.equal(seen, "/usr");
  assert.throws(() =>
    inDirectory(cString("/usr"), () => {
      throw new Error("inside");
    }), /inside/);
  const never = () => assert.fail("called");
  assert.equal(inDirectory(cString("/no/such"), never), -ENOENT);
  assert.equal(inDirectory(cString("/bin/sh"), never), -ENOTDIR);
  assert.equal(Deno.cwd(), here);
  assert.deepEqual(leftOpen(before), []);
});

Deno.test("closeInheritedOnExec keeps what we were born with from our children", async () => {
  const ends = libc.pipe(0); // without O_CLOEXEC
  assert.ok(typeof ends !== "number");
  const inherited = async () => {
    const { stdout } = await new Deno.Command("/bin/ls", { args: ["/proc/self/fd"] }).output();
    const numbers = new TextDecoder().decode(stdout).trim().split("\n").map(Number);
    return ends.filter((fd) => numbers.includes(fd));
  };
  assert.deepEqual(await inherited(), ends);
  closeInheritedOnExec();
  assert.deepEqual(await inherited(), []);
  for (const fd of ends) libc.close(fd);
});

Deno.test("every descriptor arrives under its number, also those of ours that stand in the way", async () => {
  const before = openDescriptors();
  const ends = libc.pipe();
  assert.ok(typeof ends !== "number");
  const [reading, writing] = ends;
  const files = Array.from({ length: 6 }, () => libc.memoryFile(cString("numbered")));
  const lowest = Math.min(...files);
  // From 3 on: whatever, and then ours downwards, so that the first ones overwrite the last.
  const filler = Array.from({ length: Math.max(lowest - 3, 0) }, () => writing);
  const descriptors = [writing, writing, writing, ...filler, ...files.toReversed()];
  files.forEach((fd, at) => libc.pwrite(fd, new TextEncoder().encode(`${at} `), 0));
  const numbers = files.map((_, at) => 3 + filler.length + at);
  const pid = posixSpawn({
    path: cString("/bin/sh"),
    argv: cStringArray(["sh", "-c", numbers.map((number) => `cat /dev/fd/${number}`).join(";")]),
    env: cStringArray(["PATH=/usr/bin:/bin"]),
    directory: cString("/"),
    descriptors,
  });
  for (const fd of [writing, ...files]) libc.close(fd);
  assert.ok(pid > 0, String(pid));
  const said = await readAll(reading);
  libc.close(reading);
  while (libc.reap(pid) === null) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.equal(said, "5 4 3 2 1 0 ");
  assert.deepEqual(leftOpen(before), []);
});

/** What comes until every writer has closed its end; small, so that the few milliseconds are waited for as they are. */
async function readAll(fd: number): Promise<string> {
  const buffer = new Uint8Array(1024);
  let filled = 0;
  libc.setNonBlocking(fd);
  for (;;) {
    const count = libc.read(fd, buffer.subarray(filled));
    if (count === 0) return new TextDecoder().decode(buffer.subarray(0, filled));
    if (count > 0) filled += count;
    else await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
