import assert from "node:assert/strict";
import { cString } from "../../lib/linux/cstring.ts";
import { ENOENT, ENOTDIR } from "../../lib/linux/errno.ts";
import * as libc from "../../lib/linux/libc.ts";
import { closeInheritedOnExec, inDirectory } from "../../lib/linux/posix_spawn.ts";
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
