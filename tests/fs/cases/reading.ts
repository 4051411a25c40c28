/** What reading whole files does. */

import assert from "node:assert/strict";
import { assertSameBytes, pattern, textOf } from "../scratch.ts";
import { bytes, caller, contentOf, ELOOP, ENOENT, ENOTDIR, ENXIO, type FileCase, IRREGULAR, refuses } from "./case.ts";

export const READING: readonly FileCase[] = [
  {
    name: "readFile gives the content of a file, of any length, through links",
    async run({ files, scratch }) {
      scratch.link("l", "f");
      for (const length of [0, 1, 100, 1024 * 1024, 1024 * 1024 + 1, 3 * 1024 * 1024 + 5]) {
        const content = pattern(length);
        scratch.write("f", content);
        assertSameBytes(contentOf(await files.readFile(scratch.path("l"), true, caller)), content, `${length} bytes`);
        assertSameBytes(contentOf(await files.readFile(scratch.path("f"), false, caller)), content, `${length} bytes`);
      }
    },
  },
  {
    name: "readFile refuses what is no regular file, without waiting for it",
    async run({ files, scratch }) {
      scratch.directory("d");
      scratch.fifo("p");
      scratch.socket("s");
      const read = (name: string, follow: boolean) => () => files.readFile(scratch.path(name), follow, caller);
      for (const name of ["d", "p"]) {
        await refuses(`invalidRequest: path \`${scratch.root}/${name}\` is not a file`, read(name, true));
        await refuses(IRREGULAR, read(name, false));
      }
      for (const follow of [true, false]) await refuses(ENXIO, read("s", follow));
    },
  },
  {
    name: "readFile names the errors of paths",
    async run({ files, scratch }) {
      scratch.write("f", "");
      scratch.link("loop", "loop");
      scratch.link("dangling", "nowhere");
      const read = (name: string) => () => files.readFile(scratch.path(name), true, caller);
      await refuses(ENOENT, read("nope"));
      await refuses(ENOENT, read("dangling"));
      await refuses(ENOTDIR, read("f/x"));
      await refuses(ELOOP, read("loop"));
      await refuses("internal: Filename too long (os error 36)", read("n".repeat(256)));
    },
  },
  {
    name: "readFile follows no link if it is told so",
    async run({ files, scratch }) {
      scratch.directory("d");
      scratch.write("d/f", "1");
      scratch.link("ld", "d");
      scratch.link("lf", "d/f");
      const read = (name: string) => () => files.readFile(scratch.path(name), false, caller);
      await refuses(ENOTDIR, read("ld/f"));
      await refuses(ELOOP, read("lf"));
      assert.deepEqual(await read("d/f")(), bytes("1"));
    },
  },
  {
    name: "readFile refuses what is larger than its limit, by its size",
    async run({ files, scratch }) {
      scratch.sparse("f", 512 * 1024 * 1024 + 1);
      const refusal = "invalidRequest: file is too large to read: limit is 536870912 bytes";
      await refuses(refusal, () => files.readFile(scratch.path("f"), true, caller));
    },
  },
  {
    name: "names that are not UTF-8 are read or not there",
    async run({ files, scratch }) {
      scratch.shell("printf x > \"$(printf 'bad\\377')\"");
      let content = "";
      try {
        content = textOf(contentOf(await files.readFile(scratch.path("bad", [0xff]), true, caller)));
      } catch (error) {
        assert.equal((error as Error).message, "No such file or directory (os error 2)");
        content = "x";
      }
      assert.equal(content, "x");
    },
  },
];
