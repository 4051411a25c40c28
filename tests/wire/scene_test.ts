import assert from "node:assert/strict";
import { Bindings } from "./bindings.ts";
import { Guard, Unsafe } from "./guard.ts";
import type { FileCheck, Setup } from "./lines.ts";
import { Mismatch } from "./mismatch.ts";
import { Scene } from "./scene.ts";
import { Workspace } from "./workspace.ts";

async function withScene(body: (scene: Scene, root: string) => Promise<void>): Promise<void> {
  await using workspace = await Workspace.create();
  await using scene = new Scene(new Guard(workspace.root), new Bindings(workspace));
  await body(scene, workspace.scene);
}

Deno.test("files are made as recorded, and checks see them", () =>
  withScene(async (scene) => {
    const setups: Setup[] = [
      { op: "mkdir", path: "<root>/d/e", mode: "1777" },
      { op: "write", path: "<root>/d/f", text: "hello", mode: "640", mtimeMs: -315619200000 },
      { op: "append", path: "<root>/d/f", text: "!" },
      { op: "hardlink", path: "<root>/d/g", to: "<root>/d/f" },
      { op: "symlink", path: "<root>/d/l", target: "f" },
      { op: "fifo", path: "<root>/d/p" },
      { op: "socket", path: "<root>/d/s" },
      { op: "sparse", path: "<root>/d/z", size: 3000 },
      { op: "writeRawName", dirPath: "<root>/d/e", nameHex: "6127ff", text: "x" },
      { op: "rename", from: "<root>/d/z", to: "<root>/d/y" },
    ];
    for (const setup of setups) await scene.setUp(setup);
    const checks: FileCheck[] = [
      { op: "content", path: "<root>/d/g", text: "hello!" },
      { op: "lstat", path: "<root>/d/f", kind: "file", mode: "640", size: 6, nlink: 2 },
      { op: "lstat", path: "<root>/d/e", kind: "directory", mode: "1777" },
      { op: "lstat", path: "<root>/d/l", kind: "symlink", mode: "777", target: "f" },
      { op: "lstat", path: "<root>/d/y", kind: "file", mode: "644", size: 3000 },
      { op: "absent", path: "<root>/d/z" },
      {
        op: "tree",
        path: "<root>",
        entries: ["d/", "d/e/", "d/e/a'\ufffd", "d/f", "d/g", "d/l@", "d/p", "d/s", "d/y"],
      },
    ];
    for (const check of checks) await scene.check(check);
    await scene.setUp({ op: "remove", path: "<root>/d" });
    await scene.check({ op: "tree", path: "<root>", entries: [] });
  }));

Deno.test("a check fails when something else is there", () =>
  withScene(async (scene) => {
    await scene.setUp({ op: "write", path: "<root>/f", text: "hello", mode: "640" });
    const wrong: FileCheck[] = [
      { op: "content", path: "<root>/f", text: "hell" },
      { op: "lstat", path: "<root>/f", kind: "file", mode: "644" },
      { op: "lstat", path: "<root>/f", kind: "file", mode: "640", size: 4 },
      { op: "lstat", path: "<root>/f", kind: "symlink", mode: "640" },
      { op: "absent", path: "<root>/f" },
      { op: "tree", path: "<root>", entries: ["f", "g"] },
    ];
    for (const check of wrong) await assert.rejects(scene.check(check), Mismatch, JSON.stringify(check));
  }));

Deno.test("nothing is made, moved or removed outside of the scenario's directory", () =>
  withScene(async (scene, root) => {
    await Deno.symlink("/", `${root}/out`);
    const setups: Setup[] = [
      { op: "write", path: "/tmp/x", text: "", mode: "644" },
      { op: "remove", path: "<root>/../../x" },
      { op: "remove", path: "<root>/out/nothing" },
      { op: "symlink", path: "<root>/l", target: "../../x" },
      { op: "hardlink", path: "<root>/h", to: "/etc/hostname" },
      { op: "rename", from: "<root>/out", to: "/nothing" },
      { op: "writeRawName", dirPath: "/nothing", nameHex: "61", text: "" },
    ];
    for (const setup of setups) await assert.rejects(scene.setUp(setup), Unsafe, JSON.stringify(setup));
  }));
