/** What writing whole files does. */

import assert from "node:assert/strict";
import { assertSameBytes, pattern, textOf } from "../scratch.ts";
import {
  bytes,
  caller,
  EISDIR,
  ELOOP,
  ENOENT,
  ENOTDIR,
  ENXIO,
  failure,
  type FileCase,
  IRREGULAR,
  modeOf,
  refuses,
  treeOf,
} from "./case.ts";

export const WRITING: readonly FileCase[] = [
  {
    name: "writeFile creates or replaces a file in place, through links",
    async run({ files, scratch }) {
      scratch.write("f", "old content");
      Deno.chmodSync(`${scratch.root}/f`, 0o600);
      Deno.linkSync(`${scratch.root}/f`, `${scratch.root}/h`);
      scratch.link("l", "f");
      scratch.link("dangling", "made");
      const large = pattern(5 * 1024 * 1024 + 3);
      await files.writeFile(scratch.path("l"), large, true, caller);
      assertSameBytes(scratch.read("h"), large);
      await files.writeFile(scratch.path("f"), bytes("short"), false, caller);
      assert.equal(textOf(scratch.read("h")), "short");
      assert.equal(modeOf(`${scratch.root}/f`), "600");
      await files.writeFile(scratch.path("dangling"), bytes("1"), true, caller);
      assert.equal(textOf(scratch.read("made")), "1");
      await files.writeFile(scratch.path("new"), bytes(""), false, caller);
      assert.equal(modeOf(`${scratch.root}/new`), (0o666 & ~Deno.umask()).toString(8));
    },
  },
  {
    name: "writeFile refuses directories, sockets, and pipes that nobody reads",
    async run({ files, scratch }) {
      scratch.directory("d");
      scratch.fifo("p");
      scratch.socket("s");
      scratch.write("f", "1");
      for (const follow of [true, false]) {
        const write = (name: string) => () => files.writeFile(scratch.path(name), bytes("x"), follow, caller);
        await refuses(EISDIR, write("d"));
        await refuses(ENXIO, write("p"));
        await refuses(ENXIO, write("s"));
        await refuses(ENOENT, write("no/f"));
        await refuses(ENOTDIR, write("f/x"));
      }
      await files.writeFile(bytes("/dev/null"), bytes("x"), true, caller);
      await refuses(IRREGULAR, () => files.writeFile(bytes("/dev/null"), bytes("x"), false, caller));
    },
  },
  {
    name: "writeFile follows no link if it is told so",
    async run({ files, scratch }) {
      scratch.directory("d");
      scratch.write("d/f", "1");
      scratch.link("ld", "d");
      scratch.link("lf", "d/f");
      scratch.link("dangling", "made");
      const write = (name: string) => () => files.writeFile(scratch.path(name), bytes("2"), false, caller);
      await refuses(ENOTDIR, write("ld/f"));
      await refuses(ELOOP, write("lf"));
      await refuses(ELOOP, write("dangling"));
      assert.deepEqual(treeOf(scratch.root), ["d/", "d/f=1", "dangling@made", "ld@d", "lf@d/f"]);
    },
  },
  {
    name: "writing on a full disk says so",
    async run({ files }) {
      const full = "internal: No space left on device (os error 28)";
      await refuses(full, () => files.writeFile(bytes("/dev/full"), bytes("x"), true, caller));
    },
  },
  {
    name: "whoever has gone changes no directories any more",
    async run({ files, scratch }) {
      scratch.write("f", "1");
      scratch.directory("d");
      const gone = { signal: AbortSignal.abort(new Error("gone")), budgetMs: () => 5 };
      const path = scratch.path.bind(scratch);
      const removal = { recursive: true, force: true, followSymlinks: true };
      for (
        const act of [
          () => files.createDirectory(path("e"), { recursive: true, followSymlinks: true }, gone),
          () => files.createDirectory(path("e"), { recursive: true, followSymlinks: false }, gone),
          () => files.remove(path("d"), removal, gone),
          () => files.copy(path("f"), path("g"), false, gone),
          () => files.copy(path("d"), path("e"), true, gone),
        ]
      ) {
        assert.match(await failure(act), /gone/, String(act));
      }
      assert.deepEqual(treeOf(scratch.root), ["d/", "f=1"]);
    },
  },
];
