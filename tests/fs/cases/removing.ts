/** What is removed. */

import assert from "node:assert/strict";
import { caller, ENOENT, ENOTDIR, ENOTEMPTY, type FileCase, LINK, refuses, treeOf } from "./case.ts";

export const REMOVING: readonly FileCase[] = [
  {
    name: "remove takes away files, links and trees, but not what links lead to",
    async run({ files, scratch }) {
      for (const name of ["d", "d/e", "empty"]) scratch.directory(name);
      for (const name of ["f", "d/e/x", "kept"]) scratch.write(name, "");
      scratch.link("d/out", "../kept");
      scratch.link("ld", "d");
      scratch.link("dangling", "nowhere");
      scratch.fifo("p");
      const remove = (name: string, recursive: boolean, force = true) => () =>
        files.remove(scratch.path(name), { recursive, force, followSymlinks: true }, caller);
      await remove("ld", true)();
      await remove("f", true)();
      await remove("f", true)();
      await refuses(ENOENT, remove("f", true, false));
      await refuses(ENOENT, remove("no/x", true, false));
      await remove("no/x", true)();
      await refuses(ENOTDIR, remove("kept/x", true));
      await remove("dangling", false, false)();
      await remove("p", false, false)();
      await refuses(ENOTEMPTY, remove("d", false));
      await remove("empty", false)();
      assert.deepEqual(treeOf(scratch.root), ["d/", "d/e/", "d/e/x=", "d/out@../kept", "kept="]);
      await remove("d", true, false)();
      assert.deepEqual(treeOf(scratch.root), ["kept="]);
    },
  },
  {
    name: "remove refuses links if it is told so, and then does not remove trees",
    async run({ files, scratch }) {
      for (const name of ["d", "d/e"]) scratch.directory(name);
      scratch.write("d/f", "");
      scratch.link("ld", "d");
      const remove = (name: string, recursive = false, force = true) => () =>
        files.remove(scratch.path(name), { recursive, force, followSymlinks: false }, caller);
      await refuses("internal: recursive no-follow removal is unsupported", remove("no", true));
      await refuses(LINK, remove("ld"));
      await refuses(ENOTDIR, remove("ld/f"));
      await refuses(ENOTEMPTY, remove("d"));
      await refuses(ENOENT, remove("no", false, false));
      await remove("no")();
      await remove("d/f")();
      await remove("d/e")();
      assert.deepEqual(treeOf(scratch.root), ["d/", "ld@d"]);
    },
  },
];
