import assert from "node:assert/strict";
import fc from "fast-check";
import { writeFile } from "../../../lib/fs/linux/write_file.ts";
import type { NativePath } from "../../../lib/fs/operations.ts";
import { asOrdinaryUser, assertSameBytes, bytesOf, isRoot, never, pattern, Scratch, textOf } from "../scratch.ts";

const ignore = Deno.build.os !== "linux";
const CONTENT = bytesOf("hi");

/** `KIND: MESSAGE` of the failure. */
async function failure(path: NativePath, followSymlinks = true, content = CONTENT): Promise<string> {
  try {
    await writeFile(path, content, followSymlinks, never);
  } catch (error) {
    const { kind, message } = error as { kind: string; message: string };
    return `${kind}: ${message}`;
  }
  throw new Error("it was written");
}

const IS_A_DIRECTORY = "internal: Is a directory (os error 21)";
const NO_DIRECTORY = "internal: Not a directory (os error 20)";
const NO_DEVICE = "internal: No such device or address (os error 6)";
const LOOP = "internal: Symbolic link loop (os error 40)";
const NOT_REGULAR = "invalidRequest: path is not a regular file";
const NOT_FOUND = "notFound: No such file or directory (os error 2)";

Deno.test("writeFile replaces the content, whatever the sizes, at once if both are small", { ignore }, async () => {
  using scratch = new Scratch();
  const sizes = fc.oneof(
    fc.integer({ min: 0, max: 70_000 }),
    fc.integer({ min: 900_000, max: 6_000_000 }),
    fc.constantFrom(0, 1, 64 * 1024, 64 * 1024 + 1, 1024 * 1024, 1024 * 1024 + 1),
  );
  let before = 0;
  await fc.assert(
    fc.asyncProperty(sizes, fc.boolean(), async (size, followSymlinks) => {
      const content = pattern(size, size);
      const result = writeFile(scratch.path("file"), content, followSymlinks, never);
      if (size < 64 * 1024 && before < 64 * 1024) assert.ok(!(result instanceof Promise), "no promise is needed");
      await result;
      assertSameBytes(scratch.read("file"), content);
      before = size;
    }),
    { numRuns: 30 },
  );
});

Deno.test("writeFile keeps the file itself: its mode, its other names, links to it", { ignore }, async () => {
  using scratch = new Scratch();
  scratch.write("file", "long before");
  Deno.chmodSync(`${scratch.root}/file`, 0o640);
  Deno.linkSync(`${scratch.root}/file`, `${scratch.root}/other`);
  scratch.link("link", "file");
  const { ino } = Deno.statSync(`${scratch.root}/file`);
  await writeFile(scratch.path("link"), CONTENT, true, never);
  const after = Deno.statSync(`${scratch.root}/file`);
  assert.deepEqual([after.ino, after.mode! & 0o7777, after.nlink], [ino, 0o640, 2]);
  assert.equal(textOf(scratch.read("other")), "hi");
  assert.ok(Deno.lstatSync(`${scratch.root}/link`).isSymlink);
});

Deno.test("writeFile makes new files as the umask says, also what a link leads to, but no directories", {
  ignore,
}, async () => {
  using scratch = new Scratch();
  scratch.link("dangling", "made");
  const before = Deno.umask(0o027);
  try {
    await writeFile(scratch.path("dangling"), CONTENT, true, never);
    await writeFile(scratch.path("new"), new Uint8Array(0), false, never);
  } finally {
    Deno.umask(before);
  }
  assert.equal(textOf(scratch.read("made")), "hi");
  assert.equal(Deno.statSync(`${scratch.root}/made`).mode! & 0o7777, 0o640);
  assert.equal(Deno.statSync(`${scratch.root}/new`).size, 0);
  assert.equal(await failure(scratch.path("none/file")), NOT_FOUND);
  assert.equal(await failure(scratch.path("none/file"), false), NOT_FOUND);
});

Deno.test("writeFile with nothing to write empties the file and renews its time", { ignore }, async () => {
  using scratch = new Scratch();
  for (const before of ["", "something"]) {
    scratch.write("file", before);
    Deno.utimeSync(`${scratch.root}/file`, 0, 0);
    await writeFile(scratch.path("file"), new Uint8Array(0), true, never);
    const { size, mtime } = Deno.statSync(`${scratch.root}/file`);
    assert.equal(size, 0);
    assert.ok(mtime!.getTime() > 0);
  }
});

Deno.test("writeFile writes to devices, waits for no reader of a fifo, and says what is in the way", {
  ignore,
}, async () => {
  using scratch = new Scratch();
  scratch.directory("directory");
  scratch.link("link", "directory");
  scratch.fifo("fifo");
  scratch.socket("socket");
  scratch.write("file", "kept");
  for (const path of [scratch.path("directory"), scratch.path("link"), bytesOf("/")]) {
    assert.equal(await failure(path), IS_A_DIRECTORY);
  }
  assert.equal(await failure(scratch.path("directory"), false), IS_A_DIRECTORY);
  assert.equal(await failure(bytesOf("/"), false), "invalidRequest: path must name an entry");
  for (const followSymlinks of [true, false]) {
    assert.equal(await failure(scratch.path("fifo"), followSymlinks), NO_DEVICE);
    assert.equal(await failure(scratch.path("socket"), followSymlinks), NO_DEVICE);
    assert.equal(await failure(scratch.path("file/x"), followSymlinks), NO_DIRECTORY);
  }
  await writeFile(bytesOf("/dev/null"), CONTENT, true, never);
  await writeFile(bytesOf("/dev/full"), new Uint8Array(0), true, never);
  assert.equal(await failure(bytesOf("/dev/full")), "internal: No space left on device (os error 28)");
  assert.equal(
    await failure(bytesOf("/dev/full"), true, pattern(100_000)),
    "internal: No space left on device (os error 28)",
  );
  assert.equal(await failure(bytesOf("/dev/null"), false), NOT_REGULAR);
  assert.equal(textOf(scratch.read("file")), "kept");
});

Deno.test("writeFile follows no link at all if it is not to", { ignore }, async () => {
  using scratch = new Scratch();
  scratch.directory("directory");
  scratch.write("directory/file", "kept");
  scratch.link("to-directory", "directory");
  scratch.link("to-file", "directory/file");
  scratch.link("dangling", "made");
  assert.equal(await failure(scratch.path("to-directory/file"), false), NO_DIRECTORY);
  assert.equal(await failure(scratch.path("to-directory/new"), false), NO_DIRECTORY);
  for (const name of ["to-file", "to-directory", "dangling"]) {
    assert.equal(await failure(scratch.path(name), false), LOOP);
  }
  assert.equal(textOf(scratch.read("directory/file")), "kept");
  assert.deepEqual([...Deno.readDirSync(`${scratch.root}/directory`)].map(({ name }) => name), ["file"]);
});

Deno.test("writeFile writes to a fifo that is read, more than it holds as well", { ignore }, async () => {
  using scratch = new Scratch();
  scratch.fifo("fifo");
  const content = pattern(300_000);
  const reader = new Deno.Command("/bin/sh", {
    args: ["-c", `exec <>fifo; echo; exec head -c ${content.length}`],
    cwd: scratch.root,
    stdout: "piped",
  }).spawn();
  const output = reader.stdout.getReader();
  assert.equal(textOf((await output.read()).value!), "\n"); // now the fifo is open
  const written = writeFile(scratch.path("fifo"), content, true, never);
  const read: number[] = [];
  for (let chunk; !(chunk = await output.read()).done;) read.push(...chunk.value);
  await written;
  assertSameBytes(new Uint8Array(read), content);
  assert.ok((await reader.status).success);
});

Deno.test("writeFile leaves a program that runs alone", { ignore }, async () => {
  using scratch = new Scratch();
  scratch.shell("cp /bin/cat program");
  const program = new Deno.Command(`${scratch.root}/program`, { stdin: "piped", stdout: "piped" }).spawn();
  const input = program.stdin.getWriter();
  await input.write(CONTENT);
  const output = program.stdout.getReader();
  await output.read(); // it runs
  assert.equal(await failure(scratch.path("program")), "internal: Text file busy (os error 26)");
  await input.close();
  await output.cancel();
  await program.status;
});

Deno.test("writeFile writes nothing more when nobody wants it any more", { ignore }, async () => {
  using scratch = new Scratch();
  const content = pattern(8_000_000);
  const aborter = new AbortController();
  const reason = new Error("the connection has ended");
  const result = writeFile(scratch.path("file"), content, true, aborter.signal);
  aborter.abort(reason);
  await assert.rejects(async () => await result, reason);
  const size = Deno.statSync(`${scratch.root}/file`).size;
  assert.ok(size <= 1024 * 1024, `one piece may have been on its way, not ${size}`);
});

Deno.test("writeFile says what happened when the disk is full", { ignore: ignore || !isRoot }, async () => {
  using scratch = new Scratch();
  scratch.directory("small");
  scratch.shell("mount -t tmpfs -o size=1m none small");
  try {
    const full = "internal: No space left on device (os error 28)";
    assert.equal(await failure(scratch.path("small/file"), true, pattern(3_000_000)), full);
    assert.equal(scratch.read("small/file").length, 1024 * 1024);
    assert.equal(await failure(scratch.path("small/other"), true, pattern(10_000)), full);
    await writeFile(scratch.path("small/file"), CONTENT, true, never);
    assert.equal(textOf(scratch.read("small/file")), "hi");
  } finally {
    scratch.shell("umount small");
  }
});

Deno.test("writeFile says when it may not write or create", { ignore }, () => {
  using scratch = new Scratch();
  scratch.directory("directory");
  scratch.write("file", "kept");
  Deno.chmodSync(scratch.root, 0o755);
  Deno.chmodSync(`${scratch.root}/file`, 0o444);
  Deno.chmodSync(`${scratch.root}/directory`, 0o555);
  const denied = { kind: "invalidRequest", message: "Permission denied (os error 13)" };
  asOrdinaryUser(() => {
    for (const followSymlinks of [true, false]) {
      for (const name of ["file", "directory/new"]) {
        assert.throws(() => writeFile(scratch.path(name), CONTENT, followSymlinks, never), denied);
      }
    }
  });
  assert.equal(textOf(scratch.read("file")), "kept");
});

Deno.test("writeFile that follows no link stays inside, however often its directory is swapped for one", {
  ignore,
}, async () => {
  using scratch = new Scratch();
  scratch.directory("inside");
  scratch.directory("outside");
  scratch.link("link", "outside");
  scratch.write("swapping", "");
  const swapping = new Deno.Command("/bin/sh", {
    args: [
      "-c",
      "echo; while [ -e swapping ]; do mv inside aside; mv link inside; mv inside link; mv aside inside; done",
    ],
    cwd: scratch.root,
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const output = swapping.stdout.getReader();
  await output.read(); // it has begun
  const outcomes = new Map<string, number>();
  for (let attempt = 0; attempt < 3000; attempt++) {
    let outcome = "written";
    try {
      await writeFile(scratch.path("inside/file"), CONTENT, false, never);
    } catch (error) {
      outcome = (error as Error).message;
    }
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  Deno.removeSync(`${scratch.root}/swapping`);
  await output.cancel();
  await swapping.status;
  for (const refused of ["No such file or directory (os error 2)", "Not a directory (os error 20)"]) {
    outcomes.delete(refused);
  }
  assert.deepEqual([...outcomes.keys()], ["written"]);
  assert.deepEqual([...Deno.readDirSync(`${scratch.root}/outside`)], []);
});
