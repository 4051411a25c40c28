import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { callTimeout, serverError } from "../../lib/client/client_error.ts";
import type { FileOptions } from "../../lib/client/files.ts";
import { MAX_FILE_CALLS, MAX_WHOLE_FILES_BY_BLOCKS } from "../../lib/client/limits.ts";
import { RemoteFiles } from "../../lib/client/remote_files.ts";
import type { Params } from "../../lib/protocol/methods.ts";
import { idle } from "../support/scripted_server.ts";
import { FakeHost } from "./support/fake_host.ts";

const MIB = 1024 * 1024;

/** A server with one file, whose metadata say `size`. */
function oneFile(content: Uint8Array<ArrayBuffer>, size = content.length, isFile = true): FakeHost {
  return new FakeHost({
    "fs/getMetadata": () => ({
      ...{ isDirectory: !isFile, isFile, isSymlink: false, size },
      ...{ createdAtMs: 0, modifiedAtMs: 0 },
    }),
    "fs/readFile": () => ({ dataBase64: content }),
    "fs/open": (params) => ({ handleId: (params as Params<"fs/open">).handleId }),
    "fs/readBlock": (params) => {
      const { offset, len } = params as Params<"fs/readBlock">;
      const chunk = content.slice(Number(offset), Number(offset) + len);
      return { chunk, eof: chunk.length < len };
    },
    "fs/close": () => ({}),
  });
}

function numbered(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at++) bytes[at] = at * 31 >> 3;
  return bytes;
}

Deno.test("a small file is read at once, a large one by blocks, so that no answer is too long for a WebSocket", async () => {
  const small = oneFile(numbered(4 * MIB));
  assert.equal((await new RemoteFiles(small).readFile("/a")).length, 4 * MIB);
  assert.deepEqual(small.methods(), ["fs/getMetadata", "fs/readFile"]);
  const content = numbered(4 * MIB + 1);
  const large = oneFile(content);
  assert.equal(Buffer.compare(await new RemoteFiles(large).readFile("/a"), content), 0);
  assert.deepEqual(large.methods(), [
    ...["fs/getMetadata", "fs/open"],
    ...Array<string>(5).fill("fs/readBlock"),
    "fs/close",
  ]);
});

Deno.test("a file that grows or shrinks while it is read is what was read of it", async () => {
  for (const length of [3 * MIB + 5, 5 * MIB + 5, 11 * MIB, 10]) {
    const content = numbered(length);
    const whole = await new RemoteFiles(oneFile(content, 5 * MIB)).readFile("/a");
    assert.equal(Buffer.compare(content, whole), 0, `${length}`);
  }
});

Deno.test("a large file that cannot be read by blocks is read at once, unless no answer can carry it", async () => {
  const options: FileOptions = { followSymlinks: false };
  const middle = oneFile(numbered(10), 46 * MIB);
  await new RemoteFiles(middle).readFile("/a", options);
  assert.deepEqual(middle.methods(), ["fs/getMetadata", "fs/readFile"]);
  const large = oneFile(numbered(10), 46 * MIB + 1);
  await assert.rejects(new RemoteFiles(large).readFile("/a", options), {
    name: "FileError",
    message: /^48234497 bytes cannot be read: a message carries at most 48234496 bytes of it/,
  });
  assert.deepEqual(large.methods(), ["fs/getMetadata"]);
  const directory = oneFile(numbered(10), 100 * MIB, false);
  await new RemoteFiles(directory).readFile("/a");
  assert.equal(directory.methods().at(-1), "fs/readFile");
  await assert.rejects(new RemoteFiles(oneFile(numbered(10), 2 ** 52)).readFile("/a"), {
    name: "FileError",
    message: "a file of 4503599627370496 bytes does not fit in memory; open gives it as a stream",
  });
});

Deno.test("why a file cannot be read is said by the request that reads it; no answer in time is no reason to ask again", async () => {
  const host = (metadata: Error) =>
    new FakeHost({
      "fs/getMetadata": () => Promise.reject(metadata),
      "fs/readFile": () => Promise.reject(serverError(-32603, "the reason")),
    });
  await assert.rejects(new RemoteFiles(host(serverError(-32603, "another"))).readFile("/a"), { message: "the reason" });
  await assert.rejects(new RemoteFiles(host(callTimeout("fs/getMetadata", 1))).readFile("/a"), {
    message: /timed out/,
  });
});

Deno.test("a block that fails, or a caller who gives up, closes the file", async () => {
  const whole = oneFile(numbered(5 * MIB));
  const failing = new FakeHost({
    "fs/getMetadata": () => ({
      ...{ isDirectory: false, isFile: true, isSymlink: false, size: 5 * MIB },
      ...{ createdAtMs: 0, modifiedAtMs: 0 },
    }),
    "fs/open": () => ({ handleId: "" }),
    "fs/readBlock": () => Promise.reject(serverError(-32603, "Input/output error (os error 5)")),
    "fs/close": () => ({}),
  });
  await assert.rejects(new RemoteFiles(failing).readFile("/a"), { name: "FileError", code: "EIO" });
  assert.equal(failing.methods().at(-1), "fs/close");
  const aborter = new AbortController();
  const reading = new RemoteFiles(whole).readFile("/a", { signal: aborter.signal });
  const failed = assert.rejects(reading, { message: "enough" });
  while (!whole.methods().includes("fs/readBlock")) await Promise.resolve();
  aborter.abort(new Error("enough"));
  await failed;
  assert.equal(whole.methods().at(-1), "fs/close");
});

Deno.test("thousands of files are asked for in turn, and few large ones are open at once", async () => {
  const answers: (() => void)[] = [];
  const many = new FakeHost({
    "fs/canonicalize": () => new Promise((resolve) => answers.push(() => resolve({ path: "" }))),
  });
  const files = new RemoteFiles(many);
  const asking = Array.from({ length: 2000 }, () => files.realPath("/a"));
  await idle();
  assert.equal(many.asked.length, MAX_FILE_CALLS);
  while (answers.length > 0) {
    answers.shift()!();
    if (answers.length === 0) await idle();
  }
  await Promise.all(asking);
  let open = 0;
  let most = 0;
  const large = oneFile(numbered(5 * MIB));
  const counted = new RemoteFiles({
    info: () => large.info(),
    call: (method, params, options) => {
      if (method === "fs/open") most = Math.max(most, ++open);
      if (method === "fs/close") open--;
      return large.call(method, params, options);
    },
  });
  await Promise.all(Array.from({ length: 40 }, () => counted.readFile("/a")));
  assert.deepEqual([most, open], [MAX_WHOLE_FILES_BY_BLOCKS, 0]);
});
