import assert from "node:assert/strict";
import fc from "fast-check";
import { readFile } from "../../../lib/fs/linux/read_file.ts";
import type { FileContent, NativePath } from "../../../lib/fs/operations.ts";
import { READ_LIMIT_BYTES, REFERENCE_LIMIT_BYTES } from "../../../lib/fs/read_limit.ts";
import { asOrdinaryUser, assertSameBytes, bytesOf, never, pattern, Scratch, textOf } from "../scratch.ts";

const ignore = Deno.build.os !== "linux";

async function content(path: NativePath, followSymlinks = true): Promise<Uint8Array> {
  return decoded(await readFile(path, followSymlinks, never));
}

function decoded(content: FileContent): Uint8Array {
  return "base64" in content ? Uint8Array.fromBase64(textOf(content.base64)) : content;
}

/** `KIND: MESSAGE` of the failure. */
async function failure(path: NativePath, followSymlinks = true): Promise<string> {
  try {
    await readFile(path, followSymlinks, never);
  } catch (error) {
    const { kind, message } = error as { kind: string; message: string };
    return `${kind}: ${message}`;
  }
  throw new Error("it was read");
}

Deno.test("readFile gives a file of any size as it is, at once if it is small", { ignore }, async () => {
  using scratch = new Scratch();
  const sizes = fc.oneof(
    fc.integer({ min: 0, max: 300_000 }),
    fc.constantFrom(0, 1, 2, 3, 4095, 4096, 4097, 128 * 1024, 1024 * 1024, 2 * 1024 * 1024),
    fc.integer({ min: 2 * 1024 * 1024 - 2, max: 5 * 1024 * 1024 }),
  );
  await fc.assert(
    fc.asyncProperty(sizes, async (size) => {
      const written = pattern(size, size);
      scratch.write("file", written);
      for (const followSymlinks of [true, false]) {
        const result = readFile(scratch.path("file"), followSymlinks, never);
        if (size < 64 * 1024) assert.ok(!(result instanceof Promise), "a small file needs no promise");
        assertSameBytes(decoded(await result), written);
      }
    }),
    { numRuns: 25 },
  );
});

Deno.test("readFile reads files that tell no size, or too large a one, to their end", { ignore }, async () => {
  const compared = [
    "/proc/version",
    "/proc/kallsyms",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/proc/self/limits",
  ];
  const there = compared.filter((path) => existsSync(path));
  assert.ok(there.length > 1);
  for (const path of there) assertSameBytes(await content(bytesOf(path)), await Deno.readFile(path), path);
  assert.match(await failure(bytesOf("/proc/self/mem")), /^internal: I\/O error \(os error 5\)$/);
});

function existsSync(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test("readFile reads on to where the end is by then", { ignore }, async () => {
  using scratch = new Scratch();
  const written = pattern(6_000_000);
  scratch.write("grows", written.subarray(0, 5_000_000));
  const grown = readFile(scratch.path("grows"), true, never);
  Deno.writeFileSync(`${scratch.root}/grows`, written.subarray(5_000_000), { append: true });
  assertSameBytes(decoded(await grown), written);

  scratch.write("shrinks", written);
  const shrunk = readFile(scratch.path("shrinks"), true, never);
  Deno.truncateSync(`${scratch.root}/shrinks`, 10);
  const rest = decoded(await shrunk);
  assertSameBytes(rest, written.subarray(0, rest.length));
  assert.ok(rest.length < written.length);
});

Deno.test("readFile reads the file that it opened, whatever becomes of its name", { ignore }, async () => {
  using scratch = new Scratch();
  const written = pattern(3_000_000);
  scratch.write("file", written);
  const result = readFile(scratch.path("file"), true, never);
  Deno.removeSync(`${scratch.root}/file`);
  scratch.write("file", "another");
  assertSameBytes(decoded(await result), written);
});

Deno.test("readFile refuses what is too large and tells the limit", { ignore }, async () => {
  using scratch = new Scratch();
  scratch.sparse("ours", READ_LIMIT_BYTES + 1);
  scratch.sparse("reference", REFERENCE_LIMIT_BYTES + 1);
  const text = (limit: number) => `invalidRequest: file is too large to read: limit is ${limit} bytes`;
  assert.equal(await failure(scratch.path("ours")), text(401_604_608));
  assert.equal(await failure(scratch.path("reference")), text(536_870_912));
  assert.equal(await failure(scratch.path("reference"), false), text(536_870_912));
});

Deno.test("readFile reads regular files only, and waits for nobody", { ignore }, async () => {
  using scratch = new Scratch();
  scratch.directory("directory");
  scratch.link("link", "directory");
  scratch.fifo("fifo");
  scratch.socket("socket");
  scratch.write("file", "x");
  const NO_DEVICE = "internal: No such device or address (os error 6)";
  for (const name of ["directory", "link", "fifo"]) {
    assert.equal(
      await failure(scratch.path(name)),
      `invalidRequest: path \`${scratch.root}/${name}\` is not a file`,
    );
  }
  assert.equal(await failure(bytesOf("/dev/null")), "invalidRequest: path `/dev/null` is not a file");
  assert.equal(await failure(bytesOf("/")), "invalidRequest: path `/` is not a file");
  assert.equal(await failure(scratch.path("socket")), NO_DEVICE);
  for (const name of ["directory", "fifo"]) {
    assert.equal(await failure(scratch.path(name), false), "invalidRequest: path is not a regular file");
  }
  assert.equal(await failure(scratch.path("socket"), false), NO_DEVICE);
  assert.equal(await failure(bytesOf("/"), false), "invalidRequest: path must name an entry");
  assert.equal(await failure(scratch.path("none")), "notFound: No such file or directory (os error 2)");
  assert.equal(await failure(scratch.path("file/x")), "internal: Not a directory (os error 20)");
});

Deno.test("readFile follows no link at all if it is not to", { ignore }, async () => {
  using scratch = new Scratch();
  scratch.directory("directory");
  scratch.write("directory/file", "content");
  scratch.link("to-directory", "directory");
  scratch.link("to-file", "directory/file");
  scratch.link("dangling", "nowhere");
  scratch.link("loop", "loop");
  const LOOP = "internal: Symbolic link loop (os error 40)", NO_DIRECTORY = "internal: Not a directory (os error 20)";
  for (const name of ["to-directory/file", "to-file", "directory/file"]) {
    assert.equal(textOf(await content(scratch.path(name))), "content");
  }
  assert.equal(textOf(await content(scratch.path("directory/file"), false)), "content");
  assert.equal(await failure(scratch.path("to-directory/file"), false), NO_DIRECTORY);
  assert.equal(await failure(scratch.path("dangling/file"), false), NO_DIRECTORY);
  assert.equal(await failure(scratch.path("directory/file/x"), false), NO_DIRECTORY);
  for (const name of ["to-file", "to-directory", "dangling", "loop"]) {
    assert.equal(await failure(scratch.path(name), false), LOOP);
  }
  assert.equal(await failure(scratch.path("loop")), LOOP);
  assert.equal(await failure(scratch.path("none/file"), false), "notFound: No such file or directory (os error 2)");
});

Deno.test("readFile takes names as bytes", { ignore }, async () => {
  using scratch = new Scratch();
  const names: [name: (string | number[])[], shell: string][] = [
    [[[0xff], "x"], "\\377x"],
    [["new\nline"], "new\\nline"],
    [["é"], "\\303\\251"],
    [["e\u0301"], "e\\314\\201"],
    [["%2F"], "%%2F"],
    [["n".repeat(255)], "n".repeat(255)],
  ];
  for (const [index, [name, shell]] of names.entries()) {
    scratch.shell(`printf ${index} > "./$(printf '${shell}')"`);
    assert.equal(textOf(await content(scratch.path(...name))), String(index));
    assert.equal(textOf(await content(scratch.path(...name), false)), String(index));
  }
  assert.equal(await failure(scratch.path("n".repeat(256))), "internal: Filename too long (os error 36)");
  assert.equal(await failure(scratch.path("b/".repeat(2500), "x")), "internal: Filename too long (os error 36)");
  assert.equal(
    await failure(scratch.path("b/".repeat(2500), "x"), false),
    "notFound: No such file or directory (os error 2)",
  );
  scratch.shell(`mkdir "$(printf '\\376')"`);
  assert.equal(
    await failure(scratch.path([0xfe])),
    `invalidRequest: path \`${scratch.root}/\ufffd\` is not a file`,
  );
});

Deno.test("readFile stops when nobody wants the content any more", { ignore }, async () => {
  using scratch = new Scratch();
  scratch.write("file", pattern(5_000_000));
  const aborter = new AbortController();
  const reason = new Error("the connection has ended");
  const result = readFile(scratch.path("file"), true, aborter.signal);
  aborter.abort(reason);
  await assert.rejects(async () => await result, reason);
});

Deno.test("readFile says when it may not read or get there", { ignore }, () => {
  using scratch = new Scratch();
  scratch.directory("closed");
  scratch.write("closed/file", "secret");
  scratch.write("file", "secret");
  scratch.directory("unlisted");
  scratch.write("unlisted/file", "known");
  Deno.chmodSync(scratch.root, 0o755);
  Deno.chmodSync(`${scratch.root}/file`, 0);
  Deno.chmodSync(`${scratch.root}/closed`, 0);
  Deno.chmodSync(`${scratch.root}/unlisted`, 0o711);
  const denied = { kind: "invalidRequest", message: "Permission denied (os error 13)" };
  asOrdinaryUser(() => {
    for (const followSymlinks of [true, false]) {
      const read = (name: string) => readFile(scratch.path(name), followSymlinks, never);
      assert.throws(() => read("file"), denied);
      assert.throws(() => read("closed/file"), denied);
      assert.equal(textOf(read("unlisted/file") as Uint8Array), "known");
    }
  });
  Deno.chmodSync(`${scratch.root}/closed`, 0o700);
});
