import assert from "node:assert/strict";
import { cString } from "../../../lib/linux/cstring.ts";
import { AT_FDCWD, O_CREAT } from "../../../lib/linux/file_calls.ts";
import { close, O_WRONLY } from "../../../lib/linux/libc.ts";
import { Destination } from "../../../lib/fs/linux/destination.ts";
import { LOOKING_UP, OpenDirectory } from "../../../lib/fs/linux/open_directory.ts";
import { PacedCalls } from "../../../lib/fs/linux/paced_calls.ts";
import { elsewhere, inSlices, type Steps } from "../../../lib/fs/steps.ts";
import { never, Scratch } from "../scratch.ts";
import { descriptorCount, wholeSlice } from "./trees.ts";

const ignore = Deno.build.os !== "linux";

/** Makes every call on another thread. */
class CallsElsewhere extends PacedCalls {
  override make<T>(_here: () => T, there: () => Promise<T>): Steps<T> {
    return elsewhere(there());
  }
}

Deno.test("a file that another thread opens is there, or its error is", { ignore }, async () => {
  using scratch = new Scratch();
  scratch.directory("d");
  using top = OpenDirectory.at(AT_FDCWD, cString(scratch.root), LOOKING_UP);
  const destination = new Destination(top, new CallsElsewhere());
  const parent = { fd: top.fd, pathOf: (name: Uint8Array<ArrayBuffer>) => name };
  const open = (name: string) =>
    inSlices(destination.openFile(parent, cString(name), O_WRONLY | O_CREAT, 0o600), wholeSlice(), never);
  const fd = await open("f");
  close(fd);
  assert.equal(Deno.statSync(`${scratch.root}/f`).mode! & 0o777, 0o600);
  assert.equal(await open("d"), -21); // EISDIR
  assert.equal(await open("n".repeat(256)), -36); // ENAMETOOLONG
});

Deno.test("a file that nobody waits for any more does not stay open", { ignore }, async () => {
  using scratch = new Scratch();
  using top = OpenDirectory.at(AT_FDCWD, cString(scratch.root), LOOKING_UP);
  const destination = new Destination(top, new CallsElsewhere());
  const parent = { fd: top.fd, pathOf: (name: Uint8Array<ArrayBuffer>) => name };
  const caller = new AbortController();
  const before = descriptorCount();
  const work = destination.openFile(parent, cString("f"), O_WRONLY | O_CREAT, 0o600);
  const result = inSlices(work, wholeSlice(), caller.signal);
  caller.abort(new Error("gone"));
  await assert.rejects(async () => await result, { message: "gone" });
  assert.equal(descriptorCount(), before);
  assert.ok(Deno.statSync(`${scratch.root}/f`).isFile);
});
