import assert from "node:assert/strict";
import { readBlocks, uploadFile } from "../../../lib/cli/copy/upload_file.ts";
import type { FileInfo } from "../../../lib/client/files.ts";
import { copyingFrom } from "./fake_far_side.ts";

async function all(read: ReturnType<typeof readBlocks>): Promise<string> {
  let text = "";
  for (let piece = await read(); piece !== null; piece = await read()) text += new TextDecoder().decode(piece);
  return text;
}

Deno.test("of a file that grows as much is read as there was, and of one that shrank what is left", async () => {
  const path = await Deno.makeTempFile({ prefix: "exec-server-upload-" });
  try {
    await Deno.writeTextFile(path, "0123456789");
    for (const [size, expected] of [[4, "0123"], [10, "0123456789"], [20, "0123456789"]] as const) {
      using file = await Deno.open(path);
      assert.equal(await all(readBlocks(file, size)), expected);
    }
    using file = await Deno.open(path);
    assert.equal(await all(readBlocks(file)), "0123456789", "without a size to the end");
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("a file that became shorter does not take the target's name, and its part is removed", async () => {
  const did: string[] = [];
  const job = copyingFrom({
    writeFile: async (_path, data) => void await new Response(data as ReadableStream).arrayBuffer(),
    stat: () => Promise.resolve({ size: 4 } as FileInfo),
    remove: () => Promise.resolve(void did.push("remove")),
  }, ({ argv }) => {
    did.push(argv[0]!);
    return {};
  });
  const pieces = [new Uint8Array(4), null];
  const source = { shown: "file", size: 10, mode: undefined, read: () => Promise.resolve(pieces.shift()!) };
  await assert.rejects(uploadFile(job, source, "file:///far/file", false), {
    name: "CopyError",
    message: "file became shorter while it was copied (4 of 10 bytes are left)",
  });
  assert.deepEqual(did, ["remove"]);
});
