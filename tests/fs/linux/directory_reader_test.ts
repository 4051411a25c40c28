import assert from "node:assert/strict";
import { cString } from "../../../lib/linux/cstring.ts";
import { AT_FDCWD } from "../../../lib/linux/file_calls.ts";
import { DirectoryReader, DT_DIR, DT_LNK, DT_REG } from "../../../lib/fs/linux/directory_reader.ts";
import { LISTING, OpenDirectory } from "../../../lib/fs/linux/open_directory.ts";
import { inSlices } from "../../../lib/fs/steps.ts";
import { never, Scratch } from "../scratch.ts";
import { wholeSlice } from "./trees.ts";

const ignore = Deno.build.os !== "linux";

function open(path: string): OpenDirectory {
  return OpenDirectory.at(AT_FDCWD, cString(path), LISTING);
}

function rest(reader: DirectoryReader): string[] {
  const names: string[] = [];
  while (reader.advance()) names.push(reader.text);
  return names;
}

Deno.test("a reader steps through names of all kinds once, and through no dots", { ignore }, () => {
  using scratch = new Scratch();
  const kinds = new Map<string, number>();
  const longest = "n".repeat(255);
  for (const name of [longest, "a\nb", "%2F", "é", "e\u0301", "...", ".hidden", "\ufeffmark"]) {
    scratch.write(name, "");
    kinds.set(name, DT_REG);
  }
  scratch.directory("d");
  scratch.link("l", "d");
  using directory = open(scratch.root);
  using reader = new DirectoryReader(directory.fd);
  const found = new Map<string, number>();
  while (reader.advance()) {
    assert.ok(!found.has(reader.text));
    found.set(reader.text, reader.type);
    assert.equal(reader.name.at(-1), 0);
    assert.equal(reader.nameLength, reader.name.length - 1);
    assert.deepEqual(reader.name, cString(reader.text));
  }
  assert.deepEqual(found, kinds.set("d", DT_DIR).set("l", DT_LNK));
  assert.equal(reader.advance(), false);
});

Deno.test("what is no UTF-8 in a name shows as U+FFFD, and its bytes are kept", { ignore }, () => {
  using scratch = new Scratch();
  scratch.shell("touch \"$(printf 'a\\377b')\"");
  using directory = open(scratch.root);
  using reader = new DirectoryReader(directory.fd);
  assert.ok(reader.advance());
  assert.equal(reader.text, "a\ufffdb");
  assert.deepEqual([...reader.name], [0x61, 0xff, 0x62, 0]);
});

Deno.test("what a reader has read ahead needs no open directory", { ignore }, async () => {
  using scratch = new Scratch();
  const names = Array.from({ length: 3000 }, (_, index) => `a file with a longer name ${index}`);
  for (const name of names) scratch.write(name, "");
  for (const before of [0, 1, 1500, 3000]) {
    using directory = open(scratch.root);
    using reader = new DirectoryReader(directory.fd);
    const seen = Array.from({ length: before }, () => (reader.advance(), reader.text));
    await inSlices(reader.readAhead(), wholeSlice(), never);
    directory[Symbol.dispose]();
    await inSlices(reader.readAhead(), wholeSlice(), never); // nothing is left to be done
    assert.deepEqual([...seen, ...rest(reader)].sort(), names.toSorted());
  }
});

Deno.test("a directory that is removed meanwhile has no more entries", { ignore }, () => {
  using scratch = new Scratch();
  scratch.directory("d");
  using directory = open(`${scratch.root}/d`);
  using reader = new DirectoryReader(directory.fd);
  Deno.removeSync(`${scratch.root}/d`);
  assert.equal(reader.advance(), false);
});
