import assert from "node:assert/strict";
import { systemFiles } from "../../../lib/fs/backend.ts";
import { ConnectionFiles } from "../../../lib/fs/connection_files.ts";
// Loaded now, and not by the first test: a library stays open.
import "../../../lib/fs/linux/system.ts";
import type { FileOperations } from "../../../lib/fs/operations.ts";
import { Turns } from "../../../lib/fs/turns.ts";
import { silentLog } from "../../../lib/log.ts";
import { openDescriptors } from "../../support/linux.ts";
import { assertSameBytes, bytesOf, pattern, Scratch, textOf } from "../scratch.ts";

const ignore = Deno.build.os !== "linux";

class Connection implements Disposable {
  readonly #aborter = new AbortController();
  readonly files: ConnectionFiles;

  constructor(operations: FileOperations, turns: Turns) {
    this.files = new ConnectionFiles({ operations, turns, signal: this.#aborter.signal, budgetMs: () => 5 });
  }

  [Symbol.dispose](): void {
    this.#aborter.abort(new Error("ended"));
    this.files[Symbol.dispose]();
  }
}

Deno.test("all that can be done with files is done by the operations of this system", { ignore }, async () => {
  using scratch = new Scratch();
  using operations = await systemFiles({ log: silentLog });
  using connection = new Connection(operations, new Turns());
  const { files } = connection;
  await files.createDirectory(scratch.path("a/b"), { recursive: true, followSymlinks: true });
  await files.writeFile(scratch.path("a/b/", [0xff]), bytesOf("content"), true);
  await files.copy(scratch.path("a"), scratch.path("c"), true);
  assert.equal(textOf(await files.readFile(scratch.path("c/b/", [0xff]), false) as Uint8Array), "content");
  assert.equal((await files.getMetadata(scratch.path("c/b/", [0xff]), true)).size, 7);
  assert.deepEqual(await files.canonicalize(scratch.path("c/b/", [0xff])), scratch.path("c/b/", [0xff]));
  assert.deepEqual(await files.readDirectory(scratch.path("c")), [{ fileName: "b", isDirectory: true, isFile: false }]);
  const walked = await files.walk(scratch.path("c"), {
    maxDepth: 0,
    maxDirectories: 1,
    maxEntries: 1,
    followDirectorySymlinks: false,
    pruneHiddenDirectories: false,
  });
  assert.deepEqual(walked.entries, [{ path: `file://${scratch.root}/c/b`, kind: "directory" }]);
  await files.remove(scratch.path("c"), { recursive: true, force: false, followSymlinks: true });
  assert.throws(() => files.getMetadata(scratch.path("c"), true), { kind: "notFound" });
  assert.equal(files.watchMissing(1n, [], null, () => {}), false); // one that is begun ends on another thread, later
});

Deno.test("what a connection had begun to write does not undo what its successor wrote", { ignore }, async () => {
  using scratch = new Scratch();
  using operations = await systemFiles({ log: silentLog });
  const turns = new Turns();
  const path = scratch.path("file");
  const gone = new Connection(operations, turns);
  await gone.files.open("h", () => path, "replace");
  const outcomes = Promise.allSettled([
    gone.files.writeBlock("h", 0n, pattern(1024 * 1024)),
    gone.files.writeFile(path, pattern(8_000_000), true),
    gone.files.writeBlock("h", 0n, pattern(1024 * 1024)),
  ]);
  gone[Symbol.dispose]();
  using successor = new Connection(operations, turns);
  await successor.files.writeFile(path, bytesOf("successor"), true);
  assert.deepEqual((await outcomes).map(({ status }) => status), ["fulfilled", "rejected", "rejected"]);
  assert.equal(textOf(scratch.read("file")), "successor");
});

Deno.test("128 files can be open, and none is left open when the connection has ended", { ignore }, async () => {
  using scratch = new Scratch();
  using operations = await systemFiles({ log: silentLog });
  const count = () => [...openDescriptors().values()].filter((target) => target === `${scratch.root}/file`).length;
  const writing = pattern(1024 * 1024);
  {
    using connection = new Connection(operations, new Turns());
    const { files } = connection;
    const open = (id: string) => files.open(id, () => scratch.path("file"), "replace");
    for (let id = 0; id < 128; id++) await open(String(id));
    assert.equal(count(), 128);
    assert.throws(() => open("128"), { message: "at most 128 file handles may be open per connection" });
    await files.close("7");
    await open("128");
    const written = Promise.resolve(files.writeBlock("0", 0n, writing));
    connection[Symbol.dispose]();
    assert.equal(count(), 1, "the one that is being written");
    await written;
  }
  assert.equal(count(), 0);
  assertSameBytes(scratch.read("file"), writing);
});

Deno.test("memory stays flat while a file is written and read by blocks", { ignore }, async () => {
  using scratch = new Scratch();
  using operations = await systemFiles({ log: silentLog });
  using connection = new Connection(operations, new Turns());
  const { files } = connection;
  await files.open("w", () => scratch.path("file"), "replace");
  await files.open("r", () => scratch.path("file"), "read");
  const BLOCK = 1024 * 1024;
  const move = async (blocks: number) => {
    for (let index = 0; index < blocks; index++) {
      // The same place again and again: the disk need not hold it all.
      await files.writeBlock("w", 0n, new Uint8Array(BLOCK).fill(index));
      const { bytes } = await files.readBlock("r", 0n, BLOCK);
      assert.deepEqual([bytes.length, bytes[0], bytes[BLOCK - 1]], [BLOCK, index % 256, index % 256]);
    }
  };
  await move(64);
  const before = Deno.memoryUsage().rss;
  await move(400);
  const grown = (Deno.memoryUsage().rss - before) / BLOCK;
  assert.ok(grown < 150, `${grown.toFixed(0)} MiB more after 400 blocks read and 400 written`);
});
