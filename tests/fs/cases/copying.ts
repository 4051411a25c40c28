/** What copies are like. */

import assert from "node:assert/strict";
import { assertSameBytes, isRoot, pattern } from "../scratch.ts";
import { caller, EEXIST, EISDIR, ENOENT, ENOTDIR, ENXIO, type FileCase, modeOf, refuses, treeOf } from "./case.ts";

export const COPYING: readonly FileCase[] = [
  {
    name: "copy writes to a device and leaves its mode as it is",
    ignore: !isRoot,
    async run({ files, scratch }) {
      scratch.write("f", "1");
      Deno.chmodSync(`${scratch.root}/f`, 0o600);
      scratch.nullDevice("null");
      Deno.chmodSync(`${scratch.root}/null`, 0o666);
      await files.copy(scratch.path("f"), scratch.path("null"), false, caller);
      assert.equal(modeOf(`${scratch.root}/null`), "666");
    },
  },
  {
    name: "copy makes a file like another, in place, with its mode",
    async run({ files, scratch }) {
      const large = pattern(3 * 1024 * 1024 + 1);
      scratch.write("f", large);
      scratch.write("old", "old content");
      Deno.linkSync(`${scratch.root}/old`, `${scratch.root}/h`);
      scratch.link("dangling", "made");
      // Linux takes the set-id bits away when somebody else than root writes.
      const mode = isRoot ? "4751" : "751";
      Deno.chmodSync(`${scratch.root}/f`, parseInt(mode, 8));
      for (const name of ["new", "old", "dangling"]) {
        await files.copy(scratch.path("f"), scratch.path(name), false, caller);
      }
      for (const name of ["new", "h", "made"]) {
        assertSameBytes(scratch.read(name), large);
        assert.equal(modeOf(`${scratch.root}/${name}`), mode);
      }
      assert.equal(Deno.lstatSync(`${scratch.root}/dangling`).isSymlink, true);
    },
  },
  {
    name: "copy leaves a file as it is that is copied onto itself (the reference empties it)",
    async run({ files, scratch }) {
      scratch.write("f", "1");
      scratch.link("l", "f");
      Deno.linkSync(`${scratch.root}/f`, `${scratch.root}/h`);
      for (const name of ["f", "l", "h"]) await files.copy(scratch.path("f"), scratch.path(name), false, caller);
      assert.deepEqual(treeOf(scratch.root), ["f=1", "h=1", "l@f"]);
    },
  },
  {
    name: "copy makes a link like another, where nothing is",
    async run({ files, scratch }) {
      scratch.write("f", "");
      scratch.link("l", "nowhere");
      scratch.link("loop", "loop");
      const copy = (from: string, to: string) => () => files.copy(scratch.path(from), scratch.path(to), false, caller);
      await copy("l", "l2")();
      await copy("loop", "loop2")();
      await refuses(EEXIST, copy("l", "f"));
      await refuses(EEXIST, copy("loop", "l2"));
      await refuses(ENOENT, copy("l", "no/l"));
      assert.deepEqual(treeOf(scratch.root), ["f=", "l2@nowhere", "l@nowhere", "loop2@loop", "loop@loop"]);
    },
  },
  {
    name: "copy names what is wrong with files and places",
    async run({ files, scratch }) {
      scratch.write("f", "1");
      scratch.directory("d");
      scratch.fifo("p");
      scratch.socket("s");
      const copy = (from: string, to: string) => () => files.copy(scratch.path(from), scratch.path(to), false, caller);
      await refuses(EISDIR, copy("f", "d"));
      await refuses(ENOENT, copy("f", "no/x"));
      await refuses(ENOTDIR, copy("f", "f/x"));
      await refuses(ENOENT, copy("no", "x"));
      await refuses(ENOTDIR, copy("f/x", "x"));
      await refuses(ENXIO, copy("f", "s"));
      await refuses(ENXIO, copy("f", "p"));
      await refuses("invalidRequest: fs/copy requires recursive: true when sourcePath is a directory", copy("d", "x"));
      for (const name of ["p", "s"]) {
        await refuses(
          "invalidRequest: fs/copy only supports regular files, directories, and symlinks",
          copy(name, "x"),
        );
      }
    },
  },
  {
    name: "copy makes a tree like another, or part of one that is there",
    async run({ files, scratch }) {
      for (const name of ["src", "src/sub", "exist"]) scratch.directory(name);
      scratch.write("src/f", "f");
      Deno.chmodSync(`${scratch.root}/src/f`, 0o600);
      Deno.chmodSync(`${scratch.root}/src/sub`, 0o700);
      scratch.write("src/sub/g", "g");
      scratch.link("src/l", "f");
      scratch.link("src/dangling", "nowhere");
      scratch.fifo("src/p");
      scratch.write("exist/keep", "k");
      scratch.write("exist/f", "old content");
      scratch.write("afile", "x");
      const copy = (to: string) => () => files.copy(scratch.path("src"), scratch.path(to), true, caller);
      const expected = ["dangling@nowhere", "f=f", "l@f", "sub/", "sub/g=g"];
      await copy("new")();
      assert.deepEqual(treeOf(`${scratch.root}/new`), expected);
      assert.equal(modeOf(`${scratch.root}/new/f`), "600");
      assert.equal(modeOf(`${scratch.root}/new/sub`), (0o777 & ~Deno.umask()).toString(8));
      await copy("deep/er/x")();
      assert.deepEqual(treeOf(`${scratch.root}/deep/er/x`), expected);
      await copy("exist")();
      assert.deepEqual(treeOf(`${scratch.root}/exist`), [...expected, "keep=k"].sort());
      await refuses(EEXIST, copy("afile"));
      await refuses(EEXIST, copy("new")); // because of the links
    },
  },
  {
    name: "copy refuses a directory as the place for itself, by whatever path",
    async run({ files, scratch }) {
      for (const name of ["src", "src/sub", "src/sub/x"]) scratch.directory(name);
      scratch.write("src/sub/f", "1");
      scratch.link("l", "src");
      const copy = (from: string, to: string) => () => files.copy(scratch.path(from), scratch.path(to), true, caller);
      const refusal = "invalidRequest: fs/copy cannot copy a directory to itself or one of its descendants";
      for (const name of ["src", "src/new", "src/sub", "l", "l/no/new"]) await refuses(refusal, copy("src", name));
      await copy("src/sub", "src")(); // upwards
      assert.deepEqual(treeOf(scratch.root), [
        "l@src",
        "src/",
        "src/f=1",
        "src/sub/",
        "src/sub/f=1",
        "src/sub/x/",
        "src/x/",
      ]);
    },
  },
];
