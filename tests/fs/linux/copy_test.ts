import assert from "node:assert/strict";
import fc from "fast-check";
import { copy, copying } from "../../../lib/fs/linux/copy.ts";
import type { Slice } from "../../../lib/fs/slice.ts";
import { asOrdinaryUser, assertSameBytes, bytesOf, isRoot, never, pattern, Scratch, textOf } from "../scratch.ts";
import { mayMount, runWithMount } from "./mounts.ts";
import {
  descriptorCount,
  dig,
  lines,
  linesOf,
  type Node,
  plant,
  plumb,
  stepwise,
  thinSlices,
  type Tree,
  treeOf,
  trees,
  wholeSlice,
} from "./trees.ts";

const ignore = Deno.build.os !== "linux";

function copyIn(scratch: Scratch, source: string, destination: string, slice: Slice = wholeSlice()) {
  return copy(scratch.path(source), scratch.path(destination), true, slice, never);
}

function modeOf(path: string): number {
  return Deno.lstatSync(path).mode! & 0o7777;
}

const NAMES = ["a", "b", "c\n", "%2F", "é"];

function without(kinds: readonly Node["kind"][], tree: Tree): Tree {
  return new Map(
    [...tree].filter(([, { kind }]) => !kinds.includes(kind)).map(([name, node]): [string, Node] => [
      name,
      node.kind === "directory" ? { ...node, children: without(kinds, node.children) } : node,
    ]),
  );
}

/** One tree copied over another, or null if there is anything that cannot be. */
function merged(source: Tree, target: Tree): Tree | null {
  const result = new Map(target);
  for (const [name, node] of source) {
    const there = target.get(name);
    if (there === undefined) result.set(name, node);
    else if (node.kind === "file" && there.kind === "file") result.set(name, node);
    else if (node.kind === "directory" && there.kind === "directory") {
      const children = merged(node.children, there.children);
      if (children === null) return null;
      result.set(name, { kind: "directory", children });
    } else return null;
  }
  return result;
}

const tree = trees(NAMES, ["a", "..", "/", "nowhere", "a/b"]);

Deno.test("a copied tree is as the tree is, without its fifos", { ignore }, async () => {
  await fc.assert(
    fc.asyncProperty(tree, fc.boolean(), async (tree, thin) => {
      using scratch = new Scratch();
      plant(`${scratch.root}/source`, tree);
      await copyIn(scratch, "source", "some/new/place", thin ? thinSlices().slice : wholeSlice());
      assert.deepEqual(linesOf(`${scratch.root}/some/new/place`), lines(without(["fifo"], tree)));
      assert.deepEqual(linesOf(`${scratch.root}/source`), lines(tree));
    }),
    { numRuns: 40 },
  );
});

Deno.test("a tree copied over another one joins it, or the copy fails", { ignore }, async () => {
  let joined = 0;
  await fc.assert(
    fc.asyncProperty(tree, tree.map((tree) => without(["fifo", "link"], tree)), async (source, target) => {
      using scratch = new Scratch();
      plant(`${scratch.root}/source`, source);
      plant(`${scratch.root}/target`, target);
      const expected = merged(without(["fifo"], source), target);
      if (expected === null) {
        await assert.rejects(async () => await copyIn(scratch, "source", "target"), { name: "ExecError" });
      } else {
        await copyIn(scratch, "source", "target");
        assert.deepEqual(linesOf(`${scratch.root}/target`), lines(expected));
        joined++;
      }
      assert.deepEqual(linesOf(`${scratch.root}/source`), lines(source));
    }),
    { numRuns: 60 },
  );
  assert.ok(joined > 5, `${joined} joined`);
});

Deno.test("hard links to a file that is copied keep its content", { ignore }, async () => {
  using scratch = new Scratch();
  plant(`${scratch.root}/source`, treeOf({ a: "content", d: { b: "more" } }));
  scratch.shell("mkdir -p target/d && ln source/a target/a && ln -s ../../source/d/b lb && ln source/d/b target/d/b");
  await copyIn(scratch, "source", "target");
  await copyIn(scratch, "source/a", "target/a");
  assert.deepEqual(linesOf(`${scratch.root}/target`), ["a 644 content", "d/", "d/b 644 more"]);
});

Deno.test("a tree that is deeper than paths may be long is copied with few descriptors", { ignore }, async () => {
  using scratch = new Scratch();
  dig(`${scratch.root}/deep`, 400);
  const before = descriptorCount();
  let most = 0;
  await stepwise(copying(scratch.path("deep"), scratch.path("copy"), true, never), (step) => {
    if (step % 50 === 0) most = Math.max(most, descriptorCount() - before);
  });
  assert.ok(most > 4 && most <= 40, `${most} descriptors`);
  assert.deepEqual(plumb(`${scratch.root}/copy`), { levels: 400, bottom: true });
  scratch.shell("rm -rf deep copy"); // the runtime's own removal has no room for it on its stack
});

/** Copies with a mount, in a child; how it ended. */
function copyWithMount(scratch: Scratch, mount: string, source: string, destination: string): string {
  const program = `
    const { copying } = await import(${JSON.stringify(import.meta.resolve("../../../lib/fs/linux/copy.ts"))});
    const [from, to] = Deno.args.map((path) => new TextEncoder().encode(path));
    let steps = 0;
    try {
      for (const wait of copying(from, to, true, new AbortController().signal)) {
        await wait;
        if (++steps > 1000) throw new Error("there is no end to it");
      }
      console.log("done");
    } catch (error) {
      console.log(error.message);
    }`;
  return runWithMount(scratch, mount, program, [source, destination]);
}

Deno.test("a directory that a mount hides in the source is not copied into itself", { ignore: !mayMount }, () => {
  using scratch = new Scratch();
  scratch.shell("mkdir -p tree/a elsewhere && echo 1 > tree/a/f");
  const end = copyWithMount(scratch, "mount --bind tree elsewhere", "tree", "elsewhere/new");
  assert.equal(end, "fs/copy cannot copy a directory to itself or one of its descendants");
});

Deno.test("a copy that finds the disk full says so", { ignore: !mayMount }, () => {
  using scratch = new Scratch();
  scratch.shell("mkdir -p small tree/d");
  scratch.write("tree/d/small", new Uint8Array(100_000));
  for (const size of [2_000_000, 1_000_000]) {
    scratch.write("tree/large", new Uint8Array(size));
    const end = copyWithMount(scratch, "mount -t tmpfs -o size=1m none small", "tree", "small/copy");
    assert.equal(end, "No space left on device (os error 28)");
  }
});

Deno.test("files of any size are copied whole, over longer ones and shorter ones", { ignore }, async () => {
  using scratch = new Scratch();
  const sizes = [0, 1, 4096, 128 * 1024, 128 * 1024 + 1, 9 * 1024 * 1024 + 5];
  for (const size of sizes) {
    const content = pattern(size, size);
    scratch.write("source", content);
    for (const before of [0, 10, 20 * 1024 * 1024]) {
      scratch.write("target", new Uint8Array(before));
      await copyIn(scratch, "source", "target");
      assertSameBytes(scratch.read("target"), content, `${size} over ${before}`);
    }
  }
});

Deno.test("an empty file over an empty file is a copy as well, and its time tells so", { ignore }, async () => {
  using scratch = new Scratch();
  for (const name of ["from", "to"]) {
    scratch.write(name, "");
    Deno.utimeSync(`${scratch.root}/${name}`, 1000, 1000);
  }
  await copyIn(scratch, "from", "to");
  assert.ok(Deno.statSync(`${scratch.root}/to`).mtime!.getTime() > 1_000_000);
});

Deno.test("files that tell no size, or too large a one, are copied to their end", { ignore }, async () => {
  using scratch = new Scratch();
  for (const [index, path] of ["/proc/version", "/proc/self/mountinfo", "/sys/devices/system/cpu/online"].entries()) {
    await copy(bytesOf(path), scratch.path(`${index}`), false, wholeSlice(), never);
    assertSameBytes(scratch.read(`${index}`), Deno.readFileSync(path), path);
    assert.equal(modeOf(`${scratch.root}/${index}`), 0o444);
  }
});

const SHARED_MEMORY = "/dev/shm";
const otherFileSystem = !ignore && Deno.statSync("/tmp").dev !== deviceOf(SHARED_MEMORY) &&
  deviceOf(SHARED_MEMORY) !== null;

function deviceOf(path: string): number | null {
  try {
    return Deno.statSync(path).dev;
  } catch {
    return null;
  }
}

Deno.test("files and trees are copied to another file system", { ignore: !otherFileSystem }, async () => {
  using scratch = new Scratch();
  plant(`${scratch.root}/source`, treeOf({ d: { small: "1" }, large: "x".repeat(3_000_000) }));
  const there = Deno.makeTempDirSync({ dir: SHARED_MEMORY });
  try {
    await copy(scratch.path("source"), bytesOf(`${there}/copy`), true, wholeSlice(), never);
    assert.deepEqual(linesOf(`${there}/copy`), linesOf(`${scratch.root}/source`));
  } finally {
    Deno.removeSync(there, { recursive: true });
  }
});

Deno.test("whoever reads a fifo gets the file that is copied to it", { ignore }, async () => {
  using scratch = new Scratch();
  const content = "line of a file\n".repeat(20_000); // more than a fifo holds
  scratch.write("source", content);
  scratch.fifo("fifo");
  const reader = new Deno.Command("cat", { args: ["fifo"], cwd: scratch.root, stdout: "piped" }).spawn();
  const output = reader.output();
  for (;;) {
    try {
      await copyIn(scratch, "source", "fifo");
      break;
    } catch (error) {
      assert.equal((error as Error).message, "No such device or address (os error 6)"); // not opened yet
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
  assert.equal(textOf((await output).stdout), content);
});

Deno.test("the first failure ends a copy, and what is there by then stays", { ignore }, () => {
  using scratch = new Scratch();
  scratch.shell("chmod 777 . && mkdir -p source/closed source/open && chmod 777 source source/*");
  asOrdinaryUser(() => {
    Deno.mkdirSync(`${scratch.root}/place`);
    scratch.shell("chmod 777 place");
  });
  scratch.shell("chmod 700 source/closed; rmdir source/open");
  const denied = { kind: "invalidRequest", message: "Permission denied (os error 13)" };
  if (!isRoot) scratch.shell("chmod 000 source/closed");
  asOrdinaryUser(() => assert.throws(() => copyIn(scratch, "source", "place/copy"), denied));
  assert.deepEqual(linesOf(`${scratch.root}/place/copy`), ["closed/"]);
  scratch.shell("chmod 700 source/closed");
});

Deno.test("whoever has gone copies nothing more", { ignore }, async () => {
  for (let moment = 1; moment < 8; moment++) {
    using scratch = new Scratch();
    plant(`${scratch.root}/source`, treeOf({ a: "1", b: { c: "2", d: { e: "3" } }, f: "4", g: "x".repeat(200_000) }));
    const caller = new AbortController();
    const thin = thinSlices();
    const slice = {
      pause: (
        signal: AbortSignal,
      ) => (moment === thin.count() && caller.abort(new Error("gone")), thin.slice.pause(signal)),
    };
    const work = copy(scratch.path("source"), scratch.path("copy"), true, slice as Slice, caller.signal);
    await assert.rejects(async () => await work, { message: "gone" });
    assert.ok(linesOf(`${scratch.root}/copy`).length < 7);
  }
});
