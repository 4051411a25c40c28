import assert from "node:assert/strict";
import { keyOf, PartialFile, partialName } from "../../../lib/cli/copy/partial_file.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const unlessWindows = { ignore: Deno.build.os === "windows" };

async function place() {
  const directory = await Deno.makeTempDir({ prefix: "exec-server-partial-" });
  return {
    directory,
    target: `${directory}/file`,
    names: () => [...Deno.readDirSync(directory)].map(({ name }) => name).sort(),
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
}

Deno.test("a partial file takes its target's name when it is whole", unlessWindows, async () => {
  await using at = await place();
  await Deno.writeTextFile(at.target, "old");
  await using partial = await PartialFile.open(at.target, "file", await keyOf("x"));
  assert.equal(((await Deno.stat(partial.path)).mode ?? 0) & 0o777, 0o600, "nobody else reads what is not finished");
  await partial.write(bytes("new"));
  assert.equal(await Deno.readTextFile(at.target), "old");
  await partial.commit(0o751);
  assert.equal(await Deno.readTextFile(at.target), "new");
  assert.equal(((await Deno.stat(at.target)).mode ?? 0) & 0o777, 0o751);
  assert.deepEqual(at.names(), ["file"]);
});

Deno.test("a partial file that was kept is continued for the same content only", async () => {
  await using at = await place();
  const [same, other] = [await keyOf("content", 1), await keyOf("content", 2)];
  const first = await PartialFile.open(at.target, "file", same);
  await first.write(bytes("half"));
  await first.keep();
  assert.deepEqual(at.names(), [partialName("file", same)]);
  const second = await PartialFile.open(at.target, "file", same);
  assert.equal(second.length, 4);
  await second.write(bytes(" and half"));
  assert.equal(await Deno.readTextFile(second.path), "half and half");
  await second.keep();
  const third = await PartialFile.open(at.target, "file", other);
  assert.equal(third.length, 0);
  assert.deepEqual(at.names(), [partialName("file", other)], "what belongs to other content is removed");
  await third.keep();
  assert.deepEqual(at.names(), [], "nothing is not worth keeping");
});

Deno.test("a partial file is gone after its scope, unless it was kept", async () => {
  await using at = await place();
  {
    await using partial = await PartialFile.open(at.target, "file", undefined);
    await partial.write(bytes("half"));
    assert.equal(at.names().length, 1);
  }
  assert.deepEqual(at.names(), []);
  await assert.rejects(async () => {
    await using partial = await PartialFile.open(`${at.directory}/dir/file`, "file", undefined);
    await partial.write(bytes("x"));
  }, Deno.errors.NotFound);
});

Deno.test("two copies of the same content do not write to the same file", async () => {
  await using at = await place();
  const key = await keyOf("x");
  await using one = await PartialFile.open(at.target, "file", key);
  await one.write(bytes("half"));
  await assert.rejects(PartialFile.open(at.target, "file", key), {
    name: "CopyError",
    message: `${at.target} is being copied by another process just now`,
  });
  await using _other = await PartialFile.open(at.target, "file", await keyOf("y"));
  assert.equal(at.names().length, 2, "what somebody writes to is not removed");
});

Deno.test("names of partial files are hidden, and short enough for every file system", () => {
  assert.equal(partialName("file.txt", "0123456789abcdef"), ".file.txt.0123456789abcdef.exec-server-part");
  assert.ok(new TextEncoder().encode(partialName("😀".repeat(60), "0123456789abcdef")).length <= 255);
});
