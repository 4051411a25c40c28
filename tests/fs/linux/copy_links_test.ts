/** Links in the way of a copied tree. */

import assert from "node:assert/strict";
import { copy, copying } from "../../../lib/fs/linux/copy.ts";
import type { MaybePromise } from "../../../lib/fs/operations.ts";
import { never, Scratch, textOf } from "../scratch.ts";
import { lines, linesOf, plant, stepwise, treeOf, wholeSlice } from "./trees.ts";

const ignore = Deno.build.os !== "linux";

const LEADS_OUT = {
  kind: "invalidRequest",
  message: "fs/copy does not follow symbolic links below destinationPath that are absolute or lead out of it",
};

function copyIn(scratch: Scratch, source: string, destination: string): MaybePromise<void> {
  return copy(scratch.path(source), scratch.path(destination), true, wholeSlice(), never);
}

Deno.test("links that are there already are followed if they stay below the destination", { ignore }, async () => {
  using scratch = new Scratch();
  plant(`${scratch.root}/source`, treeOf({ d: { one: "1", deeper: { two: "2" } }, f: "new", g: "made" }));
  plant(`${scratch.root}/target`, treeOf({ real: { one: "old" }, sub: { file: "old" } }));
  scratch.link("target/d", "sub/../real");
  scratch.link("target/f", "sub/file");
  scratch.link("target/g", "sub/dangling");
  await copyIn(scratch, "source", "target");
  assert.deepEqual(linesOf(`${scratch.root}/target`), [
    "d -> sub/../real",
    "f -> sub/file",
    "g -> sub/dangling",
    "real/",
    "real/deeper/",
    "real/deeper/two 644 2",
    "real/one 644 1",
    "sub/",
    "sub/dangling 644 made",
    "sub/file 644 new",
  ]);
});

Deno.test("links that lead out of the destination are refused, and nothing is touched there", { ignore }, async () => {
  const source = { d: { x: "new" }, f: "new" };
  for (const name of ["d", "f"] as const) {
    const outside = treeOf({ d: { x: "old" }, f: "old" });
    for (const target of [`../outside/${name}`, null, `in/../../outside/${name}`]) {
      using scratch = new Scratch();
      plant(`${scratch.root}/source`, treeOf({ [name]: source[name] }));
      plant(`${scratch.root}/outside`, outside);
      plant(`${scratch.root}/target`, treeOf({ in: {} }));
      scratch.link(`target/${name}`, target ?? `${scratch.root}/outside/${name}`);
      await assert.rejects(async () => await copyIn(scratch, "source", "target"), LEADS_OUT);
      assert.deepEqual(linesOf(`${scratch.root}/outside`), lines(outside));
    }
  }
});

Deno.test("links where a directory has to be are in the way if they lead to none", { ignore }, async () => {
  for (const target of ["nowhere", "d", "file", "../outside", "/dev/null"]) {
    using scratch = new Scratch();
    plant(`${scratch.root}/source`, treeOf({ d: { x: "x" } }));
    plant(`${scratch.root}/target`, treeOf({ file: "" }));
    scratch.write("outside", "");
    scratch.link("target/d", target);
    const exists = { kind: "internal", message: "File exists (os error 17)" };
    await assert.rejects(async () => await copyIn(scratch, "source", "target"), exists, target);
  }
});

Deno.test("the way back up is found where the destination was entered through a link", { ignore }, async () => {
  using scratch = new Scratch();
  const deep = `${"d/".repeat(40)}d`;
  scratch.shell(`mkdir -p source/x/${deep} target/other/y && ln -s other/y target/x`);
  scratch.write(`source/x/${deep}/bottom`, "1");
  for (const name of ["a", "b", "z", "zz"]) scratch.shell(`mkdir -p source/${name} && echo > source/${name}/f`);
  await copyIn(scratch, "source", "target");
  assert.equal(textOf(scratch.read(`target/other/y/${deep}/bottom`)), "1");
  for (const name of ["a", "b", "z", "zz"]) scratch.read(`target/${name}/f`);
});

Deno.test(
  "no link that takes the place of a directory is followed, on either side, whenever it does",
  { ignore },
  async () => {
    const inside = { a: { x: "new", y: { z: "new" }, empty: {} }, f: "new" };
    const outside = treeOf({ a: { x: "secret", y: { z: "secret" }, empty: {} }, f: "secret" });
    let swapped = 0;
    for (const side of ["source", "target"]) {
      for (const place of ["a", "a/y", "a/empty"]) {
        for (let moment = 0;; moment++) {
          using scratch = new Scratch();
          plant(`${scratch.root}/source`, treeOf(inside));
          plant(`${scratch.root}/target`, treeOf({ a: { y: {}, empty: {} } }));
          plant(`${scratch.root}/outside`, outside);
          let steps = 0;
          const work = copying(scratch.path("source"), scratch.path("target"), true, never);
          await stepwise(work, (step) => {
            steps = step;
            if (step !== moment) return;
            Deno.renameSync(`${scratch.root}/${side}/${place}`, `${scratch.root}/aside`);
            scratch.link(`${side}/${place}`, `${scratch.root}/outside/${place}`);
            swapped++;
          }).catch(() => {}); // how it ends is not the point
          assert.deepEqual(linesOf(`${scratch.root}/outside`), lines(outside), `${side}/${place} ${moment}`);
          const copied = linesOf(`${scratch.root}/target`).filter((line) => line.includes("secret"));
          assert.deepEqual(copied, [], `${side}/${place} ${moment}`);
          if (moment > steps) break;
        }
      }
    }
    assert.ok(swapped > 30, `${swapped} swaps`);
  },
);
