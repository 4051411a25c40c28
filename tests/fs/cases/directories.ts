/** What is done with directories and asked about files. */

import assert from "node:assert/strict";
import type { DirectoryEntry } from "../../../lib/fs/operations.ts";
import { textOf } from "../scratch.ts";
import { bytes, caller, EEXIST, ELOOP, ENOENT, ENOTDIR, type FileCase, LINK, refuses, treeOf } from "./case.ts";

export const DIRECTORIES: readonly FileCase[] = [
  {
    name: "createDirectory creates what is missing, and is content with what is there, if it is recursive",
    async run({ files, scratch }) {
      scratch.write("f", "");
      scratch.directory("d");
      scratch.link("ld", "d");
      scratch.link("dangling", "nowhere");
      scratch.link("loop", "loop");
      const create = (name: string) => () =>
        files.createDirectory(scratch.path(name), { recursive: true, followSymlinks: true }, caller);
      for (const name of ["a/b/c", "d", "ld", "ld/e"]) await create(name)();
      for (const name of ["f", "dangling", "dangling/x", "loop"]) await refuses(EEXIST, create(name));
      await refuses(ENOTDIR, create("f/x/y"));
      await files.createDirectory(bytes("/"), { recursive: true, followSymlinks: true }, caller);
      const expected = ["a/", "a/b/", "a/b/c/", "d/", "d/e/", "dangling@nowhere", "f=", "ld@d", "loop@loop"];
      assert.deepEqual(treeOf(scratch.root), expected);
    },
  },
  {
    name: "createDirectory creates one directory where there is nothing, if it is not recursive",
    async run({ files, scratch }) {
      scratch.link("dangling", "nowhere");
      scratch.link("here", ".");
      for (const followSymlinks of [true, false]) {
        const create = (name: string) => () =>
          files.createDirectory(scratch.path(name), { recursive: false, followSymlinks }, caller);
        await create(`new-${followSymlinks}`)();
        await refuses(EEXIST, create(`new-${followSymlinks}`));
        await refuses(EEXIST, create("dangling"));
        await refuses(ENOENT, create("no/x"));
        if (followSymlinks) await create("here/through")();
        else await refuses(ENOTDIR, create("here/x"));
      }
      await refuses(
        EEXIST,
        () => files.createDirectory(bytes("/"), { recursive: false, followSymlinks: true }, caller),
      );
    },
  },
  {
    name: "createDirectory goes through no link if it is told so",
    async run({ files, scratch }) {
      scratch.write("f", "");
      scratch.directory("d");
      scratch.link("ld", "d");
      scratch.link("dangling", "nowhere");
      const create = (name: string) => () =>
        files.createDirectory(scratch.path(name), { recursive: true, followSymlinks: false }, caller);
      for (const name of ["n/m", "n/m", "d"]) await create(name)();
      for (const name of ["ld", "ld/q", "f", "f/x", "dangling", "dangling/x"]) await refuses(ENOTDIR, create(name));
      assert.deepEqual(treeOf(scratch.root), ["d/", "dangling@nowhere", "f=", "ld@d", "n/", "n/m/"]);
    },
  },
  {
    name: "readDirectory lists what can be looked at, through links",
    async run({ files, scratch }) {
      scratch.directory("d");
      scratch.directory("d/sub");
      scratch.write("d/f", "");
      scratch.fifo("d/p");
      scratch.link("d/lf", "f");
      scratch.link("d/ls", "sub");
      scratch.link("d/dangling", "nowhere");
      scratch.link("d/loop", "loop");
      scratch.link("l", "d");
      scratch.shell("cd d && touch .hidden \"$(printf 'bad\\377')\"");
      const entry = (fileName: string, kind?: "directory" | "file"): DirectoryEntry => ({
        fileName,
        isDirectory: kind === "directory",
        isFile: kind === "file",
      });
      const listed = [...await files.readDirectory(scratch.path("l"), caller)];
      listed.sort((a, b) => a.fileName < b.fileName ? -1 : 1);
      assert.deepEqual(listed, [
        entry(".hidden", "file"),
        entry("bad\ufffd", "file"),
        entry("f", "file"),
        entry("lf", "file"),
        entry("ls", "directory"),
        entry("p"),
        entry("sub", "directory"),
      ]);
      await refuses(ENOTDIR, () => files.readDirectory(scratch.path("d/f"), caller));
      await refuses(ENOENT, () => files.readDirectory(scratch.path("no"), caller));
    },
  },
  {
    name: "getMetadata tells of the target, and whether there is a link",
    async run({ files, scratch }) {
      scratch.write("f", "hello");
      Deno.utimeSync(`${scratch.root}/f`, new Date(1_000_000_000_123), new Date(1_000_000_000_123));
      scratch.directory("d");
      scratch.fifo("p");
      scratch.link("lf", "f");
      scratch.link("dangling", "nowhere");
      scratch.link("loop", "loop");
      const tell = (name: string) => files.getMetadata(scratch.path(name), true, caller);
      const file = { isDirectory: false, isFile: true, isSymlink: false, size: 5 };
      const times = { createdAtMs: 0, modifiedAtMs: 1_000_000_000_123 };
      assert.deepEqual(await tell("f"), { ...file, ...times });
      assert.deepEqual(await tell("lf"), { ...file, ...times, isSymlink: true });
      const { isDirectory, isFile } = await tell("d");
      assert.deepEqual([isDirectory, isFile], [true, false]);
      const pipe = await tell("p");
      assert.deepEqual([pipe.isDirectory, pipe.isFile, pipe.isSymlink, pipe.size], [false, false, false, 0]);
      await refuses(ENOENT, () => tell("dangling"));
      await refuses(ELOOP, () => tell("loop"));
      await refuses(ENOTDIR, () => tell("f/x"));
      Deno.utimeSync(`${scratch.root}/f`, new Date(-5000), new Date(-5000));
      assert.equal((await tell("f")).modifiedAtMs, 0);
    },
  },
  {
    name: "getMetadata refuses links if it is told so, and tells all times then",
    async run({ files, scratch }) {
      scratch.directory("d");
      scratch.write("d/f", "hello");
      Deno.utimeSync(`${scratch.root}/d/f`, new Date(-5000), new Date(-5000));
      scratch.link("ld", "d");
      scratch.link("lf", "d/f");
      const tell = (name: string) => files.getMetadata(scratch.path(name), false, caller);
      const { createdAtMs, ...rest } = await tell("d/f");
      assert.deepEqual(rest, { isDirectory: false, isFile: true, isSymlink: false, size: 5, modifiedAtMs: -5000 });
      assert.ok(Math.abs(createdAtMs - Date.now()) < 3600_000);
      await refuses(LINK, () => tell("lf"));
      await refuses(ENOTDIR, () => tell("ld/f"));
      await refuses(ENOENT, () => tell("no"));
      assert.equal((await files.getMetadata(bytes("/"), false, caller)).isDirectory, true);
    },
  },
  {
    name: "canonicalize resolves all links; everything must exist",
    async run({ files, scratch }) {
      scratch.directory("d");
      scratch.write("d/f", "");
      scratch.link("ld", "d");
      scratch.link("dangling", "nowhere");
      scratch.link("loop", "loop");
      const real = (name: string) => files.canonicalize(scratch.path(name), caller);
      assert.equal(textOf(await real("ld/f")), `${scratch.root}/d/f`);
      assert.equal(textOf(await files.canonicalize(bytes("/"), caller)), "/");
      await refuses(ENOENT, () => real("dangling"));
      await refuses(ELOOP, () => real("loop"));
      await refuses(ENOTDIR, () => real("d/f/x"));
    },
  },
];
