/** What open files do. */

import assert from "node:assert/strict";
import { assertSameBytes, pattern, textOf } from "../scratch.ts";
import { bytes, caller, EBADF, EINVAL, EISDIR, ENOENT, ENXIO, type FileCase, modeOf, refuses } from "./case.ts";

export const BLOCKS: readonly FileCase[] = [
  {
    name: "an open file is read at any place, as the file that it was, while that grows and shrinks",
    async run({ files, scratch }) {
      scratch.write("f", "0123456789");
      using file = await files.openForReading(scratch.path("f"), caller);
      const read = async (offset: bigint, length: number) => textOf(await file.read(offset, length, caller.signal));
      assert.equal(await read(8n, 5), "89");
      assert.equal(await read(0n, 4), "0123");
      assert.equal(await read(10n, 4), "");
      assert.equal(await read(2n ** 62n, 4), "");
      scratch.write("g", "other");
      Deno.renameSync(`${scratch.root}/f`, `${scratch.root}/h`);
      Deno.renameSync(`${scratch.root}/g`, `${scratch.root}/f`);
      assert.equal(await read(0n, 3), "012");
      Deno.writeTextFileSync(`${scratch.root}/h`, "ab", { append: true });
      assert.equal(await read(8n, 10), "89ab");
      Deno.truncateSync(`${scratch.root}/h`, 1);
      assert.equal(await read(0n, 10), "0");
    },
  },
  {
    name: "reads and writes of one file at the same time do not disturb each other",
    async run({ files, scratch }) {
      const content = pattern(64 * 1024);
      using target = await files.openForReplacing(scratch.path("f"), caller);
      const places = Array.from({ length: 16 }, (_, index) => index * 4096).reverse();
      await Promise.all(
        places.map((at) => target.write(BigInt(at), content.slice(at, at + 4096), caller.signal)),
      );
      assertSameBytes(scratch.read("f"), content);
      using source = await files.openForReading(scratch.path("f"), caller);
      const read = await Promise.all(places.map((at) => source.read(BigInt(at), 4096, caller.signal)));
      read.forEach((block, index) => assertSameBytes(block, content.slice(places[index], places[index]! + 4096)));
    },
  },
  {
    name: "ranges that end beyond 63 bits, and blocks of files that are open the other way, are errors",
    async run({ files, scratch }) {
      scratch.write("f", "1");
      using source = await files.openForReading(scratch.path("f"), caller);
      await refuses(EINVAL, () => source.read(2n ** 63n, 1, caller.signal));
      await refuses(EINVAL, () => source.read(2n ** 63n - 1n, 1, caller.signal));
      await refuses(EBADF, () => source.write(0n, bytes("x"), caller.signal));
      using target = await files.openForReplacing(scratch.path("g"), caller);
      await refuses(EBADF, () => target.read(0n, 1, caller.signal));
      await refuses(
        "internal: File too large (os error 27)",
        () => target.write(2n ** 63n - 10n, bytes("x"), caller.signal),
      );
    },
  },
  {
    name: "opening refuses what is no file, without waiting for it",
    async run({ files, scratch }) {
      scratch.directory("d");
      scratch.fifo("p");
      scratch.socket("s");
      const reading = (name: string) => () => files.openForReading(scratch.path(name), caller);
      const replacing = (name: string) => () => files.openForReplacing(scratch.path(name), caller);
      for (const name of ["d", "p"]) {
        await refuses(`invalidRequest: path \`${scratch.root}/${name}\` is not a file`, reading(name));
      }
      await refuses(ENXIO, reading("s"));
      await refuses(EISDIR, replacing("d"));
      await refuses(ENXIO, replacing("p"));
      await refuses(ENXIO, replacing("s"));
      await refuses(ENOENT, replacing("no/f"));
      await refuses(
        "invalidRequest: path `/dev/null` is not a file",
        () => files.openForReplacing(bytes("/dev/null"), caller),
      );
    },
  },
  {
    name: "replacing empties a file in place, follows links and leaves gaps that read as zeros",
    async run({ files, scratch }) {
      scratch.write("f", "old content");
      Deno.chmodSync(`${scratch.root}/f`, 0o640);
      Deno.linkSync(`${scratch.root}/f`, `${scratch.root}/h`);
      scratch.link("l", "f");
      scratch.link("dangling", "made");
      using target = await files.openForReplacing(scratch.path("l"), caller);
      assert.equal(scratch.read("h").length, 0);
      await target.write(3n, bytes("ab"), caller.signal);
      assert.equal(textOf(scratch.read("h")), "\0\0\0ab");
      assert.equal(modeOf(`${scratch.root}/f`), "640");
      using _made = await files.openForReplacing(scratch.path("dangling"), caller);
      assert.deepEqual(scratch.read("made"), new Uint8Array());
    },
  },
];
