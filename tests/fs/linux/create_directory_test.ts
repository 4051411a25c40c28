import assert from "node:assert/strict";
import { createDirectory } from "../../../lib/fs/linux/create_directory.ts";
import type { MaybePromise } from "../../../lib/fs/operations.ts";
import { asOrdinaryUser, never, Scratch } from "../scratch.ts";
import { linesOf, thinSlices, wholeSlice } from "./trees.ts";

const ignore = Deno.build.os !== "linux";

function create(scratch: Scratch, name: string, followSymlinks: boolean): MaybePromise<void> {
  return createDirectory(scratch.path(name), { recursive: true, followSymlinks }, wholeSlice(), never);
}

Deno.test("directories of any depth are created in steps, with links followed or without", { ignore }, async () => {
  for (const followSymlinks of [true, false]) {
    using scratch = new Scratch();
    const thin = thinSlices();
    const path = Array.from({ length: 200 }, () => "d").join("/");
    const options = { recursive: true, followSymlinks };
    await createDirectory(scratch.path(path), options, thin.slice, never);
    assert.ok(Deno.statSync(`${scratch.root}/${path}`).isDirectory);
    assert.ok(thin.count() >= 200, `${thin.count()} steps`);
    await createDirectory(scratch.path(path), options, wholeSlice(), never);
  }
});

Deno.test("without links a path may be longer than one call takes", { ignore }, () => {
  using scratch = new Scratch();
  const path = Array.from({ length: 20 }, () => "d".repeat(250)).join("/");
  const tooLong = { message: "Filename too long (os error 36)" };
  assert.throws(() => create(scratch, path, true), tooLong);
  assert.deepEqual(linesOf(scratch.root), []);
  assert.equal(create(scratch, path, false), undefined);
  assert.throws(() => create(scratch, `x/${"d".repeat(256)}`, false), tooLong);
  scratch.shell("rm -rf d* x"); // the runtime's own removal cannot name them
});

Deno.test("the umask takes what it takes from the mode", { ignore }, () => {
  using scratch = new Scratch();
  const before = Deno.umask(0o027);
  try {
    create(scratch, "a/b", true);
    create(scratch, "c/d", false);
  } finally {
    Deno.umask(before);
  }
  for (const name of ["a", "a/b", "c", "c/d"]) {
    assert.equal(Deno.statSync(`${scratch.root}/${name}`).mode! & 0o7777, 0o750, name);
  }
});

Deno.test("whoever has gone creates nothing more", { ignore }, async () => {
  for (const followSymlinks of [true, false]) {
    using scratch = new Scratch();
    const caller = new AbortController();
    const options = { recursive: true, followSymlinks };
    const work = createDirectory(scratch.path("a/b/c"), options, thinSlices().slice, caller.signal);
    caller.abort(new Error("gone"));
    const before = linesOf(scratch.root);
    await assert.rejects(async () => await work, { message: "gone" });
    assert.deepEqual(linesOf(scratch.root), before);
    assert.ok(before.length < 3);
  }
});

Deno.test("an ordinary user creates nothing in the directories of others", { ignore }, () => {
  using scratch = new Scratch();
  scratch.shell("mkdir -p others/there && chmod 755 . others && chmod 555 others/there");
  const denied = { kind: "invalidRequest", message: "Permission denied (os error 13)" };
  asOrdinaryUser(() => {
    for (const followSymlinks of [true, false]) {
      assert.throws(() => create(scratch, "others/there/new/er", followSymlinks), denied);
      assert.equal(create(scratch, "others/there", followSymlinks), undefined);
    }
  });
});
