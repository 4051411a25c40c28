import assert from "node:assert/strict";
import fc from "fast-check";
import { cString } from "../../../lib/linux/cstring.ts";
import { AT_FDCWD } from "../../../lib/linux/file_calls.ts";
import type { Bytes } from "../../../lib/linux/libc.ts";
import { type Deleter, SystemDeleter } from "../../../lib/fs/linux/deleter.ts";
import { LISTING, OpenDirectory } from "../../../lib/fs/linux/open_directory.ts";
import { removal, remove } from "../../../lib/fs/linux/remove.ts";
import { refuseRoot, rootIdentity } from "../../../lib/fs/linux/root_guard.ts";
import { inSlices, type Steps } from "../../../lib/fs/steps.ts";
import { asOrdinaryUser, bytesOf, isRoot, never, Scratch, textOf } from "../scratch.ts";
import { mayMount, runWithMount } from "./mounts.ts";
import {
  descriptorCount,
  dig,
  lines,
  linesOf,
  plant,
  plumb,
  stepwise,
  thinSlices,
  treeOf,
  trees,
  wholeSlice,
} from "./trees.ts";

const ignore = Deno.build.os !== "linux";

const ALL = { recursive: true, force: true, followSymlinks: true };
const REFUSAL = { kind: "invalidRequest", message: "refusing to remove the root directory" };

/** Removes nothing: remembers what it was asked to remove, and fails, so that nobody goes on. */
class Recorder implements Deleter {
  readonly asked: string[] = [];

  unlink(_directory: number, name: Uint8Array): Steps<number> {
    return this.#ask(name);
  }

  removeDirectory(_directory: number, name: Uint8Array): Steps<number> {
    return this.#ask(name);
  }

  *#ask(name: Uint8Array): Steps<number> {
    yield;
    this.asked.push(textOf(name.subarray(0, -1)));
    return -16; // EBUSY
  }
}

/** Removes, and calls before and after it. */
class Watched extends SystemDeleter {
  readonly #before: (name: string) => void;
  readonly #after: () => void;

  constructor(before: (name: string) => void = () => {}, after: () => void = () => {}) {
    super();
    this.#before = before;
    this.#after = after;
  }

  override *unlink(directory: number, name: Bytes): Steps<number> {
    this.#before(textOf(name.subarray(0, -1)));
    const result = yield* super.unlink(directory, name);
    this.#after();
    return result;
  }

  override *removeDirectory(directory: number, name: Bytes): Steps<number> {
    this.#before(textOf(name.subarray(0, -1)));
    const result = yield* super.removeDirectory(directory, name);
    this.#after();
    return result;
  }
}

Deno.test("the root directory is refused before anything in it is touched", { ignore }, () => {
  const deleter = new Recorder();
  for (const force of [true, false]) {
    const work = removal(bytesOf("/"), { ...ALL, force }, deleter);
    assert.throws(() => inSlices(work, wholeSlice(), never), REFUSAL);
  }
  assert.deepEqual(deleter.asked, []);
});

Deno.test("the root directory is left to the system if only it itself is to go", { ignore }, () => {
  const deleter = new Recorder();
  const work = removal(bytesOf("/"), { ...ALL, recursive: false }, deleter);
  assert.throws(() => inSlices(work, wholeSlice(), never), { message: "Resource busy (os error 16)" });
  assert.deepEqual(deleter.asked, ["/"]);
});

Deno.test("the root directory is known by whatever path it is reached", { ignore }, () => {
  for (const path of ["/", "/proc/self/root", "/usr/..", "/.."]) {
    using directory = OpenDirectory.at(AT_FDCWD, cString(path), LISTING);
    assert.throws(() => refuseRoot(directory, rootIdentity()), REFUSAL, path);
  }
  for (const path of ["/usr", "/proc", "/dev"]) {
    using directory = OpenDirectory.at(AT_FDCWD, cString(path), LISTING);
    refuseRoot(directory, rootIdentity());
  }
});

Deno.test("a second mount of the root directory is refused as well, deep in a tree", { ignore: !mayMount }, () => {
  using scratch = new Scratch();
  scratch.shell("mkdir -p tree/inner/root");
  const program = `
    const { removal } = await import(${JSON.stringify(import.meta.resolve("../../../lib/fs/linux/remove.ts"))});
    const asked = [];
    const record = function* (_, name) {
      asked.push(new TextDecoder().decode(name));
      return -16;
    };
    const options = { recursive: true, force: true, followSymlinks: true };
    try {
      const path = new TextEncoder().encode(Deno.args[0]);
      for (const _ of removal(path, options, { unlink: record, removeDirectory: record }));
    } catch (error) {
      console.log(error.message, asked.length);
    }`;
  const said = runWithMount(scratch, "mount --bind / tree/inner/root", program, ["tree"]);
  assert.equal(said, "refusing to remove the root directory 0");
});

Deno.test("remove takes away all of a tree and nothing else", { ignore }, async () => {
  const names = ["a", "b\n", "%2F", "é", ".c", "n".repeat(255)];
  await fc.assert(
    fc.asyncProperty(
      trees(names, ["a", "..", "../..", "/", "nowhere"]),
      trees(["x", "y"], ["tree", "tree/a"]),
      fc.boolean(),
      async (tree, beside, thin) => {
        using scratch = new Scratch();
        plant(`${scratch.root}/all`, new Map([...beside, ["tree", { kind: "directory", children: tree }]]));
        await remove(scratch.path("all/tree"), ALL, thin ? thinSlices().slice : wholeSlice(), never);
        assert.deepEqual(linesOf(`${scratch.root}/all`), lines(beside));
      },
    ),
    { numRuns: 40 },
  );
});

Deno.test("a tree of thousands of entries goes step by step", { ignore }, async () => {
  using scratch = new Scratch();
  scratch.shell(
    "mkdir -p tree && cd tree && seq 1 100 | xargs mkdir && seq 1 1500 | sed 's/^/file /' | xargs -d '\\n' touch",
  );
  let steps = 0;
  await stepwise(removal(scratch.path("tree"), ALL, new SystemDeleter()), () => steps++);
  assert.ok(steps > 1600, `${steps} steps`);
  assert.deepEqual([...Deno.readDirSync(scratch.root)], []);
});

Deno.test("a tree that is deeper than paths may be long goes with few descriptors", { ignore }, async () => {
  using scratch = new Scratch();
  dig(`${scratch.root}/deep`, 600);
  assert.deepEqual(plumb(`${scratch.root}/deep`), { levels: 600, bottom: true });
  const before = descriptorCount();
  let most = 0;
  await stepwise(removal(scratch.path("deep"), ALL, new SystemDeleter()), (step) => {
    if (step % 100 === 0) most = Math.max(most, descriptorCount() - before);
  });
  assert.ok(most > 2 && most <= 24, `${most} descriptors`);
  assert.deepEqual([...Deno.readDirSync(scratch.root)], []);
});

Deno.test("a large file is freed as others are", { ignore }, async () => {
  using scratch = new Scratch();
  for (const name of ["large", "d/large"]) {
    scratch.shell("mkdir -p d");
    scratch.sparse(name, 64 * 1024 * 1024);
  }
  await remove(scratch.path("large"), { ...ALL, recursive: false }, wholeSlice(), never);
  await remove(scratch.path("d"), ALL, wholeSlice(), never);
  assert.deepEqual([...Deno.readDirSync(scratch.root)], []);
});

/** What a tree can be led to: as many names of the same kind as it has itself. */
const TREE = treeOf({ a: { x: "x", y: { z: "z" }, empty: {} }, f: "f" });

/** Puts a link to the directory outside where a directory was, or leaves it if that is gone. */
function swap(scratch: Scratch, place: string, outside: string): void {
  const path = `${scratch.root}/${place}`;
  if (!exists(path)) return;
  Deno.renameSync(path, `${scratch.root}/aside`);
  Deno.symlinkSync(`${scratch.root}/${outside}`, path);
}

function exists(path: string): boolean {
  try {
    return Deno.lstatSync(path) !== null;
  } catch {
    return false;
  }
}

Deno.test("no link that takes the place of a directory is followed, whenever it does", { ignore }, async () => {
  const places = [["tree", "outside"], ["tree/a", "outside/a"], ["tree/a/y", "outside/a/y"], [
    "tree/a/empty",
    "outside/a/empty",
  ]];
  let swapped = 0;
  for (const [place, outside] of places as [string, string][]) {
    for (const before of ["step", "deletion"]) {
      for (let moment = 0;; moment++) {
        using scratch = new Scratch();
        plant(`${scratch.root}/tree`, TREE);
        plant(`${scratch.root}/outside`, TREE);
        let deletions = 0;
        const swapAt = (now: number, what: string) => {
          if (before !== what || now !== moment) return;
          swap(scratch, place, outside);
          swapped++;
        };
        const deleter = new Watched(() => swapAt(deletions++, "deletion"));
        let steps = 0;
        const work = removal(scratch.path("tree"), ALL, deleter);
        await stepwise(work, (step) => swapAt(steps = step, "step")).catch(() => {}); // how it ends is not the point
        assert.deepEqual(linesOf(`${scratch.root}/outside`), lines(TREE), `${place} before ${before} ${moment}`);
        if (moment > (before === "step" ? steps : deletions)) break;
      }
    }
  }
  assert.ok(swapped > 40, `${swapped} swaps`);
});

Deno.test("a directory that is moved away from under its subdirectory ends the removal", { ignore }, async () => {
  using scratch = new Scratch();
  dig(`${scratch.root}/deep`, 40);
  const level = "level-of-a-tree";
  plant(`${scratch.root}/elsewhere`, TREE);
  let moved = false;
  const deleter = new Watched((name) => {
    if (name !== "bottom") return;
    // By now the upper levels are closed; they are found again from below.
    const path = Array.from({ length: 10 }, () => level).join("/");
    Deno.renameSync(`${scratch.root}/deep/${path}`, `${scratch.root}/elsewhere/moved`);
    moved = true;
  });
  await assert.rejects(stepwise(removal(scratch.path("deep"), ALL, deleter), () => {}), {
    message: "Stale file handle (os error 116)",
  });
  assert.ok(moved);
  assert.deepEqual(linesOf(`${scratch.root}/elsewhere`).filter((line) => line !== "moved/"), lines(TREE));
});

Deno.test("what others remove meanwhile is no failure", { ignore }, async () => {
  for (let moment = 0; moment < 12; moment++) {
    using scratch = new Scratch();
    plant(`${scratch.root}/tree`, TREE);
    await stepwise(removal(scratch.path("tree"), ALL, new SystemDeleter()), (step) => {
      if (step === moment && exists(`${scratch.root}/tree`)) {
        Deno.removeSync(`${scratch.root}/tree`, { recursive: true });
      }
    });
    assert.ok(!exists(`${scratch.root}/tree`));
  }
});

Deno.test("whoever has gone removes nothing more", { ignore }, async () => {
  for (let moment = 1; moment < 6; moment++) {
    using scratch = new Scratch();
    plant(`${scratch.root}/tree`, TREE);
    const caller = new AbortController();
    let deletions = 0;
    const deleter = new Watched(undefined, () => {
      if (++deletions === moment) caller.abort(new Error("gone"));
    });
    const work = removal(scratch.path("tree"), ALL, deleter);
    await assert.rejects(async () => await inSlices(work, thinSlices().slice, caller.signal), { message: "gone" });
    assert.equal(deletions, moment);
  }
});

Deno.test("an ordinary user is told what he may not remove", { ignore }, () => {
  using scratch = new Scratch();
  scratch.shell("mkdir -p closed/d unwritable/d mine/unreadable && chmod 755 . && chmod 777 mine");
  scratch.shell("touch unwritable/f && chmod 700 closed && chmod 755 unwritable && chmod 000 mine/unreadable");
  const denied = { kind: "invalidRequest", message: "Permission denied (os error 13)" };
  for (const name of isRoot ? ["closed/d", "closed/nothing", "unwritable/f", "unwritable/d"] : ["mine/unreadable"]) {
    asOrdinaryUser(() => assert.throws(() => remove(scratch.path(name), ALL, wholeSlice(), never), denied, name));
  }
  // The empty directory could be removed, but not be looked into.
  asOrdinaryUser(() => assert.throws(() => remove(scratch.path("mine"), ALL, wholeSlice(), never), denied));
  scratch.shell("chmod 700 mine/unreadable");
});

Deno.test("a path of 4096 bytes is too long, whatever it names", { ignore }, () => {
  const path = bytesOf(`/${"directory/".repeat(409)}12345`);
  assert.equal(path.length, 4096);
  const tooLong = { kind: "internal", message: "Filename too long (os error 36)" };
  assert.throws(() => remove(path, ALL, wholeSlice(), never), tooLong);
  assert.equal(remove(path.subarray(0, 4095), ALL, wholeSlice(), never), undefined);
});
