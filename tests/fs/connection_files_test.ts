import assert from "node:assert/strict";
import { ConnectionFiles } from "../../lib/fs/connection_files.ts";
import type { FileOperations, OpenFile } from "../../lib/fs/operations.ts";
import { Turns } from "../../lib/fs/turns.ts";
import { FakeFile, fakeOperations } from "./fake_operations.ts";
import { bytesOf, textOf } from "./scratch.ts";

/** A connection; ending it is up to the test. */
class Connection implements Disposable {
  readonly aborter = new AbortController();
  readonly files: ConnectionFiles;

  constructor(operations: FileOperations, turns = new Turns()) {
    this.files = new ConnectionFiles({ operations, turns, signal: this.aborter.signal, budgetMs: () => 5 });
  }

  open(id: string, path = "/file", mode: "read" | "replace" = "read"): unknown {
    return this.files.open(id, () => bytesOf(path), mode);
  }

  /** As the end of a connection does it. */
  [Symbol.dispose](): void {
    this.aborter.abort(new Error("ended"));
    this.files[Symbol.dispose]();
  }
}

/** Runs what the promises that have settled lead to. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

const unknown = (id: string) => ({ kind: "notFound", message: `unknown file handle \`${id}\`` });
const refusal = (message: string) => ({ kind: "invalidRequest", message });

Deno.test("the operations are asked for the paths, with the signal and the budget of the connection", () => {
  const asked: unknown[][] = [];
  const record = (name: string) => (...args: unknown[]) => {
    asked.push([name, ...args.slice(0, -1).map((arg) => arg instanceof Uint8Array ? textOf(arg) : arg)]);
    const { signal, budgetMs } = args.at(-1) as { signal: AbortSignal; budgetMs(): number };
    assert.deepEqual([signal.aborted, budgetMs()], [false, 5]);
    return name;
  };
  const names = [
    "readFile",
    "writeFile",
    "createDirectory",
    "getMetadata",
    "canonicalize",
    "readDirectory",
    "walk",
    "remove",
    "copy",
  ] as const;
  using connection = new Connection(fakeOperations(Object.fromEntries(names.map((name) => [name, record(name)]))));
  const { files } = connection;
  const path = bytesOf("/a/b"), other = bytesOf("/");
  const directory = { recursive: true, followSymlinks: false };
  const removal = { ...directory, force: true };
  const walk = {
    maxDepth: 1,
    maxDirectories: 2,
    maxEntries: 3,
    followDirectorySymlinks: true,
    pruneHiddenDirectories: false,
  };
  assert.equal(files.readFile(path, false) as unknown, "readFile");
  files.writeFile(path, bytesOf("content"), true);
  files.createDirectory(path, directory);
  files.getMetadata(path, true);
  files.canonicalize(path);
  files.readDirectory(path);
  files.walk(path, walk);
  files.remove(path, removal);
  files.copy(path, other, true);
  assert.deepEqual(asked, [
    ["readFile", "/a/b", false],
    ["writeFile", "/a/b", "content", true],
    ["createDirectory", "/a/b", directory],
    ["getMetadata", "/a/b", true],
    ["canonicalize", "/a/b"],
    ["readDirectory", "/a/b"],
    ["walk", "/a/b", walk],
    ["remove", "/a/b", removal],
    ["copy", "/a/b", "/", true],
  ]);
});

Deno.test("a block that is read tells whether it reaches the end", async () => {
  const file = new FakeFile();
  using connection = new Connection(fakeOperations({ openForReading: () => file }));
  connection.open("h");
  file.read = (offset, length) => new Uint8Array(Math.min(length, 10 - Number(offset)));
  assert.deepEqual(connection.files.readBlock("h", 0n, 10), { bytes: new Uint8Array(10), eof: false });
  assert.deepEqual(connection.files.readBlock("h", 8n, 10), { bytes: new Uint8Array(2), eof: true });
  file.read = () => Promise.resolve(new Uint8Array(0));
  assert.deepEqual(await connection.files.readBlock("h", 10n, 1), { bytes: new Uint8Array(0), eof: true });
});

Deno.test("a failed read closes the file, a failed write does not", async () => {
  const file = new FakeFile();
  using connection = new Connection(fakeOperations({ openForReading: () => file, openForReplacing: () => file }));
  const { files } = connection;
  const failure = new Error("failed");
  for (
    const fails of [() => {
      throw failure;
    }, () => Promise.reject(failure)]
  ) {
    connection.open("r");
    connection.open("w", "/file", "replace");
    file.read = file.write = fails;
    await assert.rejects(async () => await files.readBlock("r", 0n, 1), failure);
    await assert.rejects(async () => await files.writeBlock("w", 0n, bytesOf("x")), failure);
    assert.throws(() => files.readBlock("r", 0n, 1), unknown("r"));
    file.write = () => {};
    files.writeBlock("w", 0n, bytesOf("x"));
    files.close("w");
  }
  assert.equal(file.disposed, 4);
});

Deno.test("what is wrong with a request is found in the order of the reference", () => {
  using connection = new Connection(fakeOperations({ openForReading: () => new FakeFile() }));
  const { files } = connection;
  const long = "x".repeat(33), end = 2n ** 63n;
  const tooLong = refusal("file handle ID must not exceed 32 bytes");
  const block = (kind: string) => refusal(`file ${kind} block length must be between 1 and 1048576`);
  const none = new Uint8Array(0), tooMuch = new Uint8Array(1024 * 1024 + 1);
  assert.throws(() => files.open(long, () => assert.fail(), "read"), tooLong);
  assert.throws(() => files.readBlock(long, 0n, 0), tooLong);
  assert.throws(() => files.writeBlock(long, end, none), tooLong);
  assert.throws(() => files.close(long), tooLong);
  for (const length of [0, 1024 * 1024 + 1]) assert.throws(() => files.readBlock("none", end, length), block("read"));
  for (const bytes of [none, tooMuch]) assert.throws(() => files.writeBlock("none", end, bytes), block("write"));
  for (const offset of [end - 2n, end, 2n ** 64n - 1n]) {
    assert.throws(
      () => files.writeBlock("none", offset, bytesOf("xy")),
      refusal("file write range exceeds the signed 64-bit file offset limit"),
    );
  }
  assert.throws(() => files.writeBlock("none", end - 3n, bytesOf("xy")), unknown("none"));
  assert.throws(() => files.readBlock("none", 2n ** 64n - 1n, 1), unknown("none"));
  files.close("none");
  const refused = () => {
    throw new Error("the path is refused");
  };
  assert.throws(() => files.open("h", refused, "read"), /the path is refused/);
  connection.open("h");
  assert.throws(() => files.open("h", refused, "read"), refusal("file handle `h` already exists"));
});

Deno.test("requests that use a handle take effect in their order, with those for its path", async () => {
  const events: string[] = [];
  const opening = Promise.withResolvers<OpenFile>(), writing = Promise.withResolvers<void>();
  const file = new FakeFile();
  file.write = () => (events.push("write"), writing.promise);
  file.read = () => (events.push("read"), new Uint8Array(1));
  using connection = new Connection(fakeOperations({
    openForReplacing: () => (events.push("open"), opening.promise),
    readFile: () => (events.push("read the whole"), new Uint8Array(0)),
  }));
  const { files } = connection;
  const requests = [
    connection.open("h", "/file", "replace"),
    files.writeBlock("h", 0n, bytesOf("x")),
    files.readFile(bytesOf("/file"), true),
    files.readBlock("h", 0n, 1),
    files.close("h"),
    connection.open("h", "/file", "replace"),
  ];
  assert.deepEqual(events, ["open"]);
  opening.resolve(file);
  await settle();
  assert.deepEqual(events, ["open", "write"]);
  assert.equal(file.disposed, 0);
  writing.resolve();
  await Promise.all(requests);
  assert.deepEqual(events, ["open", "write", "read the whole", "read", "open"]);
  assert.equal(file.disposed, 1);
});

Deno.test("any number of blocks can be on their way to one file", async () => {
  const first = Promise.withResolvers<void>();
  const written: bigint[] = [];
  const file = new FakeFile();
  file.write = (offset) => (written.push(offset), offset === 0n ? first.promise : undefined);
  using connection = new Connection(fakeOperations({ openForReplacing: () => file }));
  connection.open("h", "/file", "replace");
  const offsets = Array.from({ length: 300 }, (_, at) => BigInt(at));
  const writes = offsets.map((offset) => connection.files.writeBlock("h", offset, bytesOf("x")));
  assert.deepEqual(written, [0n]);
  first.resolve();
  await Promise.all(writes);
  assert.deepEqual(written, offsets);
});

Deno.test("what is written, removed or made waits for what came before above and below it", async () => {
  const work = Promise.withResolvers<void>();
  const asked: string[] = [];
  const record = (name: string) => () => void asked.push(name);
  using connection = new Connection(fakeOperations({
    copy: () => work.promise,
    writeFile: record("write"),
    createDirectory: record("create"),
    getMetadata: (path) => (asked.push(textOf(path as Uint8Array<ArrayBuffer>)), {}),
  }));
  const { files } = connection;
  const results = [
    files.copy(bytesOf("/from"), bytesOf("/to/x"), true),
    files.writeFile(bytesOf("/to/x"), bytesOf("x"), true),
    files.getMetadata(bytesOf("/to/x/y"), true), // the parent may become a file
    files.createDirectory(bytesOf("/to/x/a/b"), { recursive: true, followSymlinks: true }),
    files.getMetadata(bytesOf("/to"), true), // made by the copy
    files.getMetadata(bytesOf("/other"), true),
  ];
  assert.deepEqual(asked, ["/other"]);
  work.resolve();
  await Promise.all(results);
  assert.deepEqual(asked, ["/other", "write", "/to/x/y", "create", "/to"]);
});

Deno.test("what is missing is watched for once what came before has been removed", async () => {
  const work = Promise.withResolvers<void>();
  const watched: string[] = [];
  using connection = new Connection(fakeOperations({
    remove: () => work.promise,
    watchMissing: (missing) => {
      watched.push(...(missing as Uint8Array<ArrayBuffer>[]).map(textOf));
      return { [Symbol.dispose]: () => {} };
    },
  }));
  const { files } = connection;
  void files.remove(bytesOf("/tree"), { recursive: true, force: true, followSymlinks: true });
  const watching = files.watchMissing(1n, [bytesOf("/other"), bytesOf("/tree/file")], null, () => {});
  assert.deepEqual(watched, []);
  work.resolve();
  assert.equal(await watching, true);
  assert.deepEqual(watched, ["/other", "/tree/file"]);
});

Deno.test("an open that was refused leaves the order of the handle's requests as it is", async () => {
  const work = Promise.withResolvers<void>();
  const file = new FakeFile();
  using connection = new Connection(fakeOperations({ openForReading: () => file, writeFile: () => work.promise }));
  const { files } = connection;
  connection.open("h", "/first");
  const writes = files.writeFile(bytesOf("/first"), bytesOf("x"), true);
  assert.throws(() => connection.open("h", "/second"), refusal("file handle `h` already exists"));
  const block = files.readBlock("h", 0n, 1);
  assert.ok(block instanceof Promise, "the write comes first");
  assert.ok(!(files.close("other") instanceof Promise));
  work.resolve();
  await writes;
  assert.deepEqual(await block, { bytes: new Uint8Array(0), eof: true });
});

Deno.test("the end of a connection drops what waits and closes what is open", async () => {
  const written: string[] = [];
  const work = Promise.withResolvers<void>(), opening = Promise.withResolvers<OpenFile>();
  const open = new FakeFile(), late = new FakeFile();
  const turns = new Turns();
  const operations = fakeOperations({
    writeFile: (...args) => (written.push(textOf(args[1] as Uint8Array)), work.promise),
    openForReading: () => open,
    openForReplacing: () => opening.promise,
  });
  const gone = new Connection(operations, turns);
  gone.open("h");
  const outcomes = Promise.allSettled([
    gone.files.writeFile(bytesOf("/file"), bytesOf("first"), true),
    gone.files.writeFile(bytesOf("/file"), bytesOf("second"), true),
    gone.open("late", "/other", "replace"),
  ]);
  gone[Symbol.dispose]();
  assert.equal(open.disposed, 1);
  using successor = new Connection(operations, turns);
  const third = successor.files.writeFile(bytesOf("/file"), bytesOf("third"), true);
  await settle();
  assert.deepEqual(written, ["first"]);
  work.resolve();
  opening.resolve(late);
  await third;
  assert.deepEqual(written, ["first", "third"]);
  assert.deepEqual((await outcomes).map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
  assert.equal(late.disposed, 1);
  assert.throws(() => gone.files.writeFile(bytesOf("/file"), bytesOf("fourth"), true), /ended/);
});

Deno.test("requests within other operations keep their place among the rest, and open files for all", async () => {
  const asked: string[] = [];
  const write = Promise.withResolvers<void>();
  const file = new FakeFile();
  using connection = new Connection(fakeOperations({ writeFile: () => (asked.push("write"), write.promise) }));
  const others = fakeOperations({
    readFile: () => (asked.push("read"), bytesOf("content")),
    openForReading: () => file,
  });
  const within = connection.files.within(() => (asked.push("operations"), Promise.resolve(others)));
  const written = connection.files.writeFile(bytesOf("/file"), bytesOf("content"), true);
  const read = within.readFile(bytesOf("/file"), true);
  await within.open("h", () => bytesOf("/other"), "read");
  assert.deepEqual(asked, ["write", "operations"]);
  write.resolve();
  assert.equal(textOf(await read as Uint8Array), "content");
  await written;
  assert.deepEqual(asked, ["write", "operations", "operations", "read"]);
  assert.deepEqual(connection.files.readBlock("h", 0n, 1), { bytes: new Uint8Array(0), eof: true });
  assert.throws(() => connection.open("h"), refusal("file handle `h` already exists"));
});

Deno.test("operations that cannot be had are asked for after the name of a file, and leave it free", async () => {
  let asked = 0;
  using connection = new Connection(fakeOperations({ openForReading: () => new FakeFile() }));
  const within = connection.files.within(() => {
    asked++;
    throw new Error("no operations");
  });
  connection.open("h");
  assert.throws(() => within.open("h", () => bytesOf("/file"), "read"), refusal("file handle `h` already exists"));
  assert.equal(asked, 0);
  assert.throws(() => within.open("i", () => bytesOf("/file"), "read"), /no operations/);
  assert.throws(() => within.getMetadata(bytesOf("/file"), true), /no operations/);
  const late = connection.files.within(() => Promise.reject(new Error("none came")));
  await assert.rejects(async () => await late.open("i", () => bytesOf("/file"), "read"), /none came/);
  connection.open("i");
});
