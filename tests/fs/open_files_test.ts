import assert from "node:assert/strict";
import { checkHandleId, MAX_OPEN_FILES, OpenFiles } from "../../lib/fs/open_files.ts";
import { bytesOf } from "./scratch.ts";
import { FakeFile } from "./fake_operations.ts";

const path = bytesOf("/file");
const locate = () => path;

Deno.test("OpenFiles gives a file by its name until it is closed", () => {
  using files = new OpenFiles();
  const file = new FakeFile();
  files.add("", locate, (path) => (assert.equal(path, locate()), file));
  assert.equal(files.get(""), file);
  assert.equal(files.path(""), path);
  files.close("");
  assert.equal(file.disposed, 1);
  assert.throws(() => files.get(""), { kind: "notFound", message: "unknown file handle ``" });
  assert.equal(files.path(""), undefined);
  files.close("");
  files.close("never opened");
});

Deno.test("OpenFiles looks at the name first, then at the number of files, then at the path", async () => {
  using files = new OpenFiles();
  const opening = Promise.withResolvers<FakeFile>();
  const opened = files.add("0", locate, () => opening.promise); // it counts already
  for (let count = 1; count < MAX_OPEN_FILES; count++) files.add(String(count), locate, () => new FakeFile());
  const refused = () => {
    throw new Error("the path is refused");
  };
  assert.throws(() => files.add("0", refused, refused), {
    kind: "invalidRequest",
    message: "file handle `0` already exists",
  });
  assert.throws(() => files.add("another", refused, refused), {
    kind: "invalidRequest",
    message: "at most 128 file handles may be open per connection",
  });
  assert.throws(() => files.get("0"), { kind: "notFound" });
  opening.resolve(new FakeFile());
  await opened;
  files.close("0");
  assert.throws(() => files.add("another", refused, refused), /the path is refused/);
  files.add("another", locate, () => new FakeFile());
});

Deno.test("OpenFiles forgets what could not be opened", async () => {
  using files = new OpenFiles();
  assert.throws(() =>
    files.add("h", locate, () => {
      throw new Error("no");
    }), /no/);
  await assert.rejects(async () => await files.add("h", locate, () => Promise.reject(new Error("later"))), /later/);
  files.add("h", locate, () => new FakeFile());
});

Deno.test("OpenFiles closes everything with its scope, what was still being opened as well", async () => {
  const open = new FakeFile(), late = new FakeFile();
  const opening = Promise.withResolvers<FakeFile>();
  let opened: unknown;
  {
    using files = new OpenFiles();
    files.add("open", locate, () => open);
    opened = files.add("late", locate, () => opening.promise);
  }
  assert.deepEqual([open.disposed, late.disposed], [1, 0]);
  opening.resolve(late);
  await opened;
  assert.deepEqual([open.disposed, late.disposed], [1, 1]);
});

Deno.test("names of handles take at most 32 bytes of UTF-8", () => {
  for (const id of ["", "x".repeat(32), "é".repeat(16), "€".repeat(10), "😀".repeat(8)]) checkHandleId(id);
  for (const id of ["x".repeat(33), "é".repeat(17), "€".repeat(11), "😀".repeat(8) + "x"]) {
    assert.throws(() => checkHandleId(id), {
      kind: "invalidRequest",
      message: "file handle ID must not exceed 32 bytes",
    });
  }
});
