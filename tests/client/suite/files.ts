import assert from "node:assert/strict";
import { FileError } from "../../../lib/client/file_error.ts";
import { inTime } from "../../program/eventually.ts";
import type { WireMessage } from "../support/message_proxy.ts";
import type { Case } from "./case.ts";
import { through } from "./through.ts";

const BLOCK = 1024 * 1024;

function pattern(length: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(length).map((_, index) => (index * 31) ^ (index >> 12));
}

/** The answer to initialize, without one capability. */
function without(capability: string): (message: WireMessage) => WireMessage {
  return (message) => {
    const result = message.result as { environmentInfo?: { capabilities?: Record<string, unknown> } } | undefined;
    if (result?.environmentInfo === undefined) return message;
    const capabilities = { ...result.environmentInfo.capabilities, [capability]: false };
    return { ...message, result: { ...result, environmentInfo: { ...result.environmentInfo, capabilities } } };
  };
}

export const FILES: readonly Case[] = [
  {
    name: "texts, bytes, directories and facts about them, with names that need encoding",
    async run(place) {
      await using proxied = await through(place);
      const { client: { files }, messages } = proxied;
      const directory = `${place.directory}/deep dir/ü%20#?`;
      await files.mkdir(directory, { recursive: true });
      await files.writeTextFile(`${directory}/text`, "hällo\n");
      await files.writeFile(`${directory}/bytes`, pattern(1_000));
      assert.equal(await files.readTextFile(`${directory}/text`), "hällo\n");
      assert.equal(await Deno.readTextFile(`${directory}/text`), "hällo\n");
      assert.deepEqual(await files.readFile(`${directory}/bytes`), pattern(1_000));
      const names = (await files.readDir(directory)).toSorted((a, b) => a.name < b.name ? -1 : 1);
      assert.deepEqual(names, [
        { name: "bytes", isDirectory: false, isFile: true },
        { name: "text", isDirectory: false, isFile: true },
      ]);
      const { isFile, isDirectory, isSymlink, size } = await files.stat(`${directory}/bytes`);
      assert.deepEqual({ isFile, isDirectory, isSymlink, size }, {
        ...{ isFile: true, isDirectory: false, isSymlink: false, size: 1_000 },
      });
      await files.copy(directory, `${place.directory}/copy`, { recursive: true });
      assert.deepEqual(await Deno.readFile(`${place.directory}/copy/bytes`), pattern(1_000));
      await files.remove(`${place.directory}/copy`, { recursive: true });
      await assert.rejects(files.stat(`${place.directory}/copy`), { name: "FileError", kind: "NotFound" });
      const [first] = messages.requests("fs/createDirectory");
      assert.match((first!.params as { path: string }).path, /^file:\/\/\/.*\/deep%20dir\/%C3%BC%2520%23%3F$/);
      assert.equal((first!.params as { sandbox: unknown }).sandbox, null);
    },
  },
  {
    name: "failures have a kind and the server's own words",
    async run(place) {
      await using proxied = await through(place, {
        toServer: (message, link) => {
          if (message.method !== "fs/remove") return message;
          link.toClient({ id: message.id, error: { code: -32603, message: "something else (os error 28)" } });
          return undefined;
        },
      });
      const { files } = proxied.client;
      await Deno.writeTextFile(`${place.directory}/file`, "");
      const missing = await caught(files.readFile(`${place.directory}/missing`));
      assert.deepEqual([missing.kind, missing.message], ["NotFound", "No such file or directory (os error 2)"]);
      assert.equal(missing.code, "ENOENT");
      const notDirectory = await caught(files.readDir(`${place.directory}/file`));
      assert.deepEqual([notDirectory.kind, notDirectory.code], ["Other", "ENOTDIR"]);
      const other = await caught(files.remove(`${place.directory}/file`));
      assert.deepEqual([other.kind, other.message], ["Other", "something else (os error 28)"]);
      const invalid = await caught(files.copy(place.directory, `${place.directory}/copy`));
      assert.equal(invalid.kind, "InvalidInput");
    },
  },
  {
    name: "a file is read by blocks to its end, from an offset too, and its handle is closed",
    async run(place) {
      const content = pattern(2 * BLOCK + 12_345);
      await Deno.writeFile(`${place.directory}/file`, content);
      await using proxied = await through(place);
      const { client: { files }, messages } = proxied;
      const whole = await new Response(await files.open(`${place.directory}/file`)).bytes();
      assert.deepEqual(whole, content);
      assert.deepEqual(messages.requests("fs/readBlock").map(({ params }) => (params as { len: number }).len), [
        ...[BLOCK, BLOCK, BLOCK],
      ]);
      await closed(messages, 1);
      const rest = await new Response(await files.open(`${place.directory}/file`, { offset: BLOCK + 1 })).bytes();
      assert.deepEqual(rest, content.subarray(BLOCK + 1));
      await closed(messages, 2);
    },
  },
  {
    name: "a file that is not read to its end is closed as well",
    async run(place) {
      await Deno.writeFile(`${place.directory}/file`, pattern(3 * BLOCK));
      await using proxied = await through(place);
      const stream = await proxied.client.files.open(`${place.directory}/file`);
      for await (const block of stream) {
        assert.deepEqual(block, pattern(BLOCK));
        break;
      }
      await closed(proxied.messages, 1);
      const handles = ["fs/open", "fs/close"].map((method) => proxied.messages.requests(method)[0]!.params)
        .map((params) => (params as { handleId: string }).handleId);
      assert.equal(handles[0], handles[1]);
      assert.match(handles[0]!, /^[0-9a-f]{32}$/);
    },
  },
  {
    name: "a stream is written by blocks",
    async run(place) {
      const content = pattern(2 * BLOCK + 777);
      await using proxied = await through(place);
      const { client: { files }, messages } = proxied;
      await files.writeFile(
        `${place.directory}/file`,
        ReadableStream.from([content.subarray(0, 9), content.subarray(9)]),
      );
      assert.deepEqual(await Deno.readFile(`${place.directory}/file`), content);
      assert.ok(messages.requests("fs/writeBlock").length >= 3);
      assert.deepEqual(messages.requests("fs/writeFile"), []);
      await closed(messages, 1);
    },
  },
  {
    name: "a server that cannot write streams gets the file at once, and the facade itself says so",
    async run(place) {
      await using proxied = await through(place, { toClient: without("fileWriteStreaming") });
      const { client: { files }, messages } = proxied;
      const content = pattern(BLOCK + 1);
      await files.writeFile(
        `${place.directory}/file`,
        ReadableStream.from([content.subarray(0, 9), content.subarray(9)]),
      );
      assert.deepEqual(await Deno.readFile(`${place.directory}/file`), content);
      assert.equal(messages.requests("fs/writeFile").length, 1);
      await assert.rejects(files.create(`${place.directory}/other`), {
        name: "ClientError",
        message: "exec-server does not support writable file streams",
      });
    },
  },
  {
    name: "thousands of files can be asked for at once",
    async run(place) {
      await Deno.writeTextFile(`${place.directory}/file`, "content");
      await using proxied = await through(place);
      const { files } = proxied.client;
      const reading = Array.from({ length: 2000 }, () => files.readTextFile(`${place.directory}/file`));
      assert.deepEqual(new Set(await inTime("the files", Promise.all(reading), 60_000)), new Set(["content"]));
      assert.equal(proxied.wire.accepted, 1);
    },
  },
  {
    name: "a file that no message could carry is read whole",
    async run(place) {
      const length = 50 * BLOCK + 3;
      {
        using file = await Deno.create(`${place.directory}/file`);
        await file.truncate(length);
      }
      await using proxied = await through(place);
      assert.equal((await proxied.client.files.readFile(`${place.directory}/file`)).length, length);
      assert.equal(proxied.wire.accepted, 1);
    },
  },
  {
    name: "equal questions about a file share one request while it is under way",
    async run(place) {
      await Deno.writeTextFile(`${place.directory}/file`, "");
      await using proxied = await through(place);
      const { client: { files }, messages } = proxied;
      await files.stat(place.directory); // whatever has to be known first
      const before = messages.requests("fs/getMetadata").length;
      await Promise.all(Array.from({ length: 10 }, () => files.stat(`${place.directory}/file`)));
      assert.equal(messages.requests("fs/getMetadata").length, before + 1);
    },
  },
];

async function caught(promise: Promise<unknown>): Promise<FileError> {
  const error = await promise.then(() => assert.fail("it went well"), (error) => error);
  assert.ok(error instanceof FileError, String(error));
  return error;
}

async function closed(messages: { requests(method: string): WireMessage[] }, count: number): Promise<void> {
  const look = async () => {
    while (messages.requests("fs/close").length < count) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  await inTime("the file to be closed", look());
}
