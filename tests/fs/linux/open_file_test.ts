import assert from "node:assert/strict";
import fc from "fast-check";
import { openForReading, openForReplacing } from "../../../lib/fs/linux/open_file.ts";
import type { MaybePromise, OpenFile } from "../../../lib/fs/operations.ts";
import { openDescriptors } from "../../support/linux.ts";
import { assertSameBytes, bytesOf, isRoot, never, pattern, Scratch, textOf } from "../scratch.ts";

const ignore = Deno.build.os !== "linux";

/** `KIND: MESSAGE` of the failure. */
async function failure(act: () => MaybePromise<unknown>): Promise<string> {
  try {
    await act();
  } catch (error) {
    const { kind, message } = error as { kind: string; message: string };
    return `${kind}: ${message}`;
  }
  throw new Error("it worked");
}

type Step =
  | { readonly kind: "write"; readonly offset: number; readonly length: number }
  | { readonly kind: "read"; readonly offset: number; readonly length: number }
  | { readonly kind: "truncate"; readonly size: number };

const offset = fc.oneof(fc.integer({ min: 0, max: 200_000 }), fc.constantFrom(0, 4096, 1024 * 1024));
const length = fc.oneof(
  fc.integer({ min: 1, max: 5000 }),
  fc.constantFrom(1, 64 * 1024, 64 * 1024 + 1, 128 * 1024 + 1, 1024 * 1024),
);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("write" as const), offset, length }),
    fc.record({ kind: fc.constant("read" as const), offset, length }),
    fc.record({ kind: fc.constant("truncate" as const), size: offset }),
  ),
  { maxLength: 30 },
);

Deno.test("open files read and write at any place what a run of bytes would", { ignore }, async () => {
  using scratch = new Scratch();
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      using writer = await openForReplacing(scratch.path("file"), never);
      using reader = openForReading(scratch.path("file"));
      let model = new Uint8Array(0);
      for (const [seed, step] of steps.entries()) {
        if (step.kind === "write") {
          const bytes = pattern(step.length, seed);
          await writer.write(BigInt(step.offset), bytes, never);
          model = resized(model, Math.max(model.length, step.offset + step.length));
          model.set(bytes, step.offset);
        } else if (step.kind === "read") {
          const bytes = await reader.read(BigInt(step.offset), step.length, never);
          assertSameBytes(bytes, model.subarray(step.offset, step.offset + step.length));
        } else {
          Deno.truncateSync(`${scratch.root}/file`, step.size);
          model = resized(model, step.size);
        }
      }
      assertSameBytes(scratch.read("file"), model);
    }),
    { numRuns: 40 },
  );
});

function resized(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(size);
  result.set(bytes.subarray(0, size));
  return result;
}

Deno.test("an open file stays the one it was", { ignore }, async () => {
  using scratch = new Scratch();
  scratch.write("file", "before");
  using reader = openForReading(scratch.path("file"));
  Deno.renameSync(`${scratch.root}/file`, `${scratch.root}/moved`);
  scratch.write("file", "another");
  assert.equal(textOf(await reader.read(0n, 100, never)), "before");
  using writer = await openForReplacing(scratch.path("moved"), never);
  Deno.removeSync(`${scratch.root}/moved`);
  await writer.write(2n, bytesOf("x"), never);
  assert.deepEqual(await reader.read(0n, 100, never), bytesOf([0, 0], "x"));
});

Deno.test("openForReplacing empties the file in place, a large one too, and makes a new one", { ignore }, async () => {
  using scratch = new Scratch();
  scratch.write("file", pattern(6_000_000));
  scratch.link("dangling", "made");
  const { ino } = Deno.statSync(`${scratch.root}/file`);
  using _large = await openForReplacing(scratch.path("file"), never);
  assert.deepEqual([Deno.statSync(`${scratch.root}/file`).ino, scratch.read("file").length], [ino, 0]);
  using _made = await openForReplacing(scratch.path("dangling"), never);
  assert.equal(scratch.read("made").length, 0);
});

Deno.test("open files are regular ones", { ignore }, async () => {
  using scratch = new Scratch();
  scratch.directory("directory");
  scratch.fifo("fifo");
  scratch.socket("socket");
  scratch.write("file", "kept");
  const reading = (name: string) => failure(() => openForReading(scratch.path(name)));
  const replacing = (name: string) => failure(() => openForReplacing(scratch.path(name), never));
  const notAFile = (path: string) => `invalidRequest: path \`${path}\` is not a file`;
  const NO_DEVICE = "internal: No such device or address (os error 6)";
  const NOT_FOUND = "notFound: No such file or directory (os error 2)";
  assert.equal(await reading("directory"), notAFile(`${scratch.root}/directory`));
  assert.equal(await reading("fifo"), notAFile(`${scratch.root}/fifo`));
  assert.equal(await reading("socket"), NO_DEVICE);
  assert.equal(await reading("none"), NOT_FOUND);
  assert.equal(await failure(() => openForReading(bytesOf("/dev/null"))), notAFile("/dev/null"));
  assert.equal(await replacing("directory"), "internal: Is a directory (os error 21)");
  assert.equal(await replacing("fifo"), NO_DEVICE);
  assert.equal(await replacing("socket"), NO_DEVICE);
  assert.equal(await replacing("none/file"), NOT_FOUND);
  assert.equal(await replacing("file/x"), "internal: Not a directory (os error 20)");
  assert.equal(await failure(() => openForReplacing(bytesOf("/dev/full"), never)), notAFile("/dev/full"));
  assert.equal(textOf(scratch.read("file")), "kept");
  // A fifo that somebody reads can be opened for writing, but is no file either.
  const reader = Deno.openSync(`${scratch.root}/fifo`, { read: true, write: true });
  assert.equal(await replacing("fifo"), notAFile(`${scratch.root}/fifo`));
  reader.close();
});

Deno.test("an open file says what the system says of a place or a direction", { ignore }, async () => {
  using scratch = new Scratch();
  using writer = await openForReplacing(scratch.path("file"), never);
  using reader = openForReading(scratch.path("file"));
  const INVALID = "invalidRequest: Invalid argument (os error 22)", BAD = "internal: Bad file descriptor (os error 9)";
  const end = 2n ** 63n;
  assert.equal((await reader.read(end - 2n, 1, never)).length, 0);
  for (const [offset, length] of [[end - 1n, 1], [end - 2n, 2], [end, 1], [2n ** 64n - 1n, 1]] as const) {
    assert.equal(await failure(() => reader.read(offset, length, never)), INVALID);
  }
  assert.equal(await failure(() => writer.read(0n, 1, never)), BAD);
  for (const length of [1, 100_000]) {
    assert.equal(await failure(() => reader.write(0n, pattern(length), never)), BAD);
    assert.equal(
      await failure(() => writer.write(end - 200_000n, pattern(length), never)),
      "internal: File too large (os error 27)",
    );
  }
});

Deno.test("an open file is closed when its last call has come to its end", { ignore }, async () => {
  using scratch = new Scratch();
  const isOpen = () => [...openDescriptors().values()].includes(`${scratch.root}/file`);
  const file: OpenFile = await openForReplacing(scratch.path("file"), never);
  const writes = [0n, 1n].map((place) => file.write(place * 1024n * 1024n, pattern(1024 * 1024), never));
  file[Symbol.dispose]();
  assert.ok(isOpen(), "two threads write");
  await Promise.all(writes);
  assert.ok(!isOpen());
  assertSameBytes(scratch.read("file").subarray(1024 * 1024), pattern(1024 * 1024));
  assert.throws(() => file.write(0n, pattern(1), never), /the file has been closed/);
  file[Symbol.dispose]();
});

Deno.test("an open file writes nothing more when nobody wants it any more", { ignore }, async () => {
  using scratch = new Scratch();
  scratch.write("large", pattern(6_000_000));
  const aborter = new AbortController();
  const reason = new Error("the connection has ended");
  using file = await openForReplacing(scratch.path("file"), never);
  const opening = openForReplacing(scratch.path("large"), aborter.signal);
  const write = file.write(0n, pattern(1024 * 1024), aborter.signal);
  aborter.abort(reason);
  await assert.rejects(async () => await opening, reason);
  await write; // it had begun
  await assert.rejects(async () => await file.write(0n, pattern(1024 * 1024), aborter.signal), reason);
});

Deno.test("an open file says that the disk is full and stays open", { ignore: ignore || !isRoot }, async () => {
  using scratch = new Scratch();
  scratch.directory("small");
  scratch.shell("mount -t tmpfs -o size=512k none small");
  try {
    using file = await openForReplacing(scratch.path("small/file"), never);
    const full = "internal: No space left on device (os error 28)";
    assert.equal(await failure(() => file.write(4096n, pattern(1024 * 1024), never)), full);
    await file.write(4096n, bytesOf("hi"), never);
    assert.equal(textOf(scratch.read("small/file").subarray(4096, 4098)), "hi");
  } finally {
    scratch.shell("umount small");
  }
});
