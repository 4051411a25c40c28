import assert from "node:assert/strict";
import { disconnected, serverError } from "../../lib/client/client_error.ts";
import { RemoteFiles } from "../../lib/client/remote_files.ts";
import type { Params } from "../../lib/protocol/methods.ts";
import { collectGarbage } from "../support/collect_garbage.ts";
import { FakeHost } from "./support/fake_host.ts";

const MIB = 1024 * 1024;

/** A server with one file. */
function oneFile(content: Uint8Array<ArrayBuffer>): FakeHost {
  return new FakeHost({
    "fs/open": (params) => ({ handleId: (params as Params<"fs/open">).handleId }),
    "fs/readBlock": (params) => {
      const { offset, len } = params as Params<"fs/readBlock">;
      const chunk = content.slice(Number(offset), Number(offset) + len);
      return { chunk, eof: chunk.length < len };
    },
    "fs/close": () => ({}),
  });
}

/** A server that keeps what it is told to write. */
function sink(written: { at: number; bytes: Uint8Array }[]): FakeHost {
  return new FakeHost({
    "fs/open": () => ({ handleId: "" }),
    "fs/writeBlock": (params) => {
      const { offset, chunk } = params as Params<"fs/writeBlock">;
      written.push({ at: Number(offset), bytes: chunk.slice() });
      return {};
    },
    "fs/writeFile": () => ({}),
    "fs/close": () => ({}),
  }, { fileWriteStreaming: true });
}

function numbered(length: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length }, (_, at) => at * 31 >> 3);
}

function joined(written: readonly { at: number; bytes: Uint8Array }[]): Uint8Array {
  const last = written.at(-1);
  const whole = new Uint8Array(last === undefined ? 0 : last.at + last.bytes.length);
  for (const { at, bytes } of written) whole.set(bytes, at);
  return whole;
}

async function bytesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

Deno.test("a file is read in blocks under a random name, to its end, and closed", async () => {
  const content = numbered(2 * MIB + 5);
  const host = oneFile(content);
  assert.deepEqual(await bytesOf(await new RemoteFiles(host).open("/a")), content);
  const handleId = host.asked[0]!.params["handleId"];
  assert.match(String(handleId), /^[0-9a-f]{32}$/);
  assert.deepEqual(host.asked.map(({ method, params }) => [method, params]), [
    ["fs/open", { handleId, path: "file:///a", mode: "read", sandbox: null }],
    ...[0, MIB, 2 * MIB].map((offset) => ["fs/readBlock", { handleId, offset, len: MIB }]),
    ["fs/close", { handleId }],
  ]);
  const again = oneFile(content);
  await bytesOf(await new RemoteFiles(again).open("/a"));
  assert.notEqual(again.asked[0]!.params["handleId"], handleId);
});

Deno.test("reading can begin anywhere; a file that ends at the end of a block takes one more", async () => {
  const host = oneFile(numbered(MIB + 7));
  assert.equal((await bytesOf(await new RemoteFiles(host).open("/a", { offset: 7 }))).length, MIB);
  assert.deepEqual(host.methods(), ["fs/open", "fs/readBlock", "fs/readBlock", "fs/close"]);
  assert.equal(host.asked[2]!.params["offset"], MIB + 7);
  assert.equal((await bytesOf(await new RemoteFiles(oneFile(numbered(3))).open("/a", { offset: 9 }))).length, 0);
});

Deno.test("a stream that is dropped early closes its file", async () => {
  const host = oneFile(new Uint8Array(9 * MIB));
  for await (const block of await new RemoteFiles(host).open("/a")) {
    assert.equal(block.length, MIB);
    break;
  }
  assert.equal(host.methods().at(-1), "fs/close");
  assert.ok(host.asked.length <= 5, "one block is read ahead, not more");
});

Deno.test("a stream that nobody can reach any more closes its file, also when its signal lives on", async () => {
  const { signal } = new AbortController();
  for (const options of [{}, { signal }]) {
    const host = oneFile(new Uint8Array(9 * MIB));
    await (async () => void await new RemoteFiles(host).open("/a", options))();
    await collectGarbage(() => host.methods().includes("fs/close"));
  }
});

Deno.test("aborting the signal fails the stream with its reason and closes the file, also while nobody reads", async () => {
  const host = oneFile(new Uint8Array(9 * MIB));
  const aborter = new AbortController();
  const reader = (await new RemoteFiles(host).open("/a", { signal: aborter.signal })).getReader();
  await reader.read();
  aborter.abort(new Error("enough"));
  assert.equal(host.methods().at(-1), "fs/close");
  await assert.rejects(reader.read(), { message: "enough" });
});

Deno.test("what has been opened although its caller gave up is closed", async () => {
  const opening = Promise.withResolvers<unknown>();
  const asked = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const host = new FakeHost({
    "fs/open": () => {
      asked.resolve();
      return opening.promise;
    },
    "fs/close": () => closed.resolve(),
  });
  const aborter = new AbortController();
  const open = new RemoteFiles(host).open("/a", { signal: aborter.signal });
  await asked.promise;
  aborter.abort(new Error("enough"));
  await assert.rejects(open, { message: "enough" });
  assert.deepEqual(host.methods(), ["fs/open"]);
  opening.resolve({ handleId: "" });
  await closed.promise;
});

Deno.test("a block that no server may answer fails the stream", async () => {
  const blocks = [
    [
      { chunk: new Uint8Array(MIB + 1), eof: true },
      /returned 1048577 bytes, more than the 1048576 that were asked for/,
    ],
    [{ chunk: new Uint8Array(), eof: false }, /returned an empty block before the end of the file/],
  ] as const;
  for (const [block, message] of blocks) {
    const host = new FakeHost({
      "fs/open": () => ({ handleId: "" }),
      "fs/readBlock": () => block,
      "fs/close": () => ({}),
    });
    const reading = bytesOf(await new RemoteFiles(host).open("/a"));
    await assert.rejects(reading, { name: "FileError", kind: "Other", message });
    assert.equal(host.methods().at(-1), "fs/close");
  }
});

Deno.test("a server that does not open, or loses the connection, is told by the kind of the failure", async () => {
  const refusing = new FakeHost({ "fs/open": () => Promise.reject(serverError(-32600, "path `/a` is not a file")) });
  await assert.rejects(new RemoteFiles(refusing).open("/a"), { kind: "InvalidInput" });
  const losing = new FakeHost({
    "fs/open": () => ({ handleId: "" }),
    "fs/readBlock": () => Promise.reject(disconnected("gone")),
    "fs/close": () => Promise.reject(disconnected("gone")),
  });
  const reading = bytesOf(await new RemoteFiles(losing).open("/a"));
  await assert.rejects(reading, { kind: "BrokenPipe", message: "exec-server transport closed" });
});

Deno.test("a file is written in full blocks, whatever the pieces, and closed", async () => {
  const content = numbered(3 * MIB + 11);
  for (const pieceLength of [100_003, MIB, 2 * MIB + 1, content.length]) {
    const written: { at: number; bytes: Uint8Array }[] = [];
    const host = sink(written);
    const writer = (await new RemoteFiles(host).create("/a")).getWriter();
    for (let at = 0; at < content.length; at += pieceLength) await writer.write(content.subarray(at, at + pieceLength));
    await writer.close();
    assert.deepEqual(joined(written), content);
    assert.deepEqual(written.map(({ bytes }) => bytes.length), [MIB, MIB, MIB, 11]);
    assert.equal(host.asked[0]!.params["mode"], "replace");
    assert.equal(host.methods().at(-1), "fs/close");
  }
});

Deno.test("an aborted or failing writer closes its file, and writes nothing more", async () => {
  const written: { at: number; bytes: Uint8Array }[] = [];
  const host = sink(written);
  const aborted = (await new RemoteFiles(host).create("/a")).getWriter();
  await aborted.write(numbered(10));
  await aborted.abort(new Error("enough"));
  assert.deepEqual(host.methods(), ["fs/open", "fs/close"]);
  const full = new FakeHost({
    "fs/open": () => ({ handleId: "" }),
    "fs/writeBlock": () => Promise.reject(serverError(-32603, "No space left on device (os error 28)")),
    "fs/close": () => ({}),
  }, { fileWriteStreaming: true });
  const failing = (await new RemoteFiles(full).create("/a")).getWriter();
  await assert.rejects(failing.write(numbered(MIB)), { name: "FileError", code: "ENOSPC" });
  await assert.rejects(failing.write(numbered(1)), { code: "ENOSPC" });
  assert.deepEqual(full.methods(), ["fs/open", "fs/writeBlock", "fs/close"]);
});

Deno.test("aborting a writer ends the write that is under way", async () => {
  const started = Promise.withResolvers<void>();
  const host = new FakeHost({
    "fs/open": () => ({ handleId: "" }),
    "fs/writeBlock": (_, { signal }) =>
      new Promise((_, reject) => {
        signal!.addEventListener("abort", () => reject(signal!.reason), { once: true });
        started.resolve();
      }),
    "fs/close": () => ({}),
  }, { fileWriteStreaming: true });
  const writer = (await new RemoteFiles(host).create("/a")).getWriter();
  const writing = assert.rejects(writer.write(numbered(MIB)), { message: "enough" });
  await started.promise;
  await writer.abort(new Error("enough"));
  await writing;
  assert.equal(host.methods().at(-1), "fs/close");
});

Deno.test("a small file is written at once, a large one by blocks, and a stream by blocks", async () => {
  const written: { at: number; bytes: Uint8Array }[] = [];
  const host = sink(written);
  const files = new RemoteFiles(host);
  await files.writeFile("/a", new Uint8Array(4 * MIB));
  assert.deepEqual(host.methods(), ["fs/writeFile"]);
  const large = numbered(4 * MIB + 1);
  await files.writeFile("/a", large);
  assert.deepEqual(joined(written), large);
  written.length = 0;
  await files.writeFile("/a", new Blob([numbered(10)]).stream());
  assert.deepEqual(joined(written), numbered(10));
});

Deno.test("without the capability a stream is collected and written at once, unless no message can carry it", async () => {
  const host = new FakeHost({ "fs/writeFile": () => ({}) });
  const files = new RemoteFiles(host);
  await files.writeFile("/a", new Blob(["one", "two"]).stream());
  await files.writeFile("/a", new Uint8Array(5 * MIB));
  assert.deepEqual(host.asked.map(({ params }) => String(params["dataBase64"]).length), [8, 6_990_508]);
  const message =
    /message carries at most 12320768 bytes of it, and exec-server does not support writable file streams/;
  await assert.rejects(files.writeFile("/a", new Uint8Array(12 * MIB)), { name: "FileError", message });
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => controller.enqueue(new Uint8Array(MIB)),
    cancel: () => void (cancelled = true),
  });
  await assert.rejects(files.writeFile("/a", endless), { name: "FileError", message });
  assert.ok(cancelled);
  await assert.rejects(files.create("/a"), {
    name: "ClientError",
    kind: "unsupported",
    message: "exec-server does not support writable file streams",
  });
  assert.deepEqual(host.methods(), ["fs/writeFile", "fs/writeFile"]);
});

Deno.test("a stream that is to be collected is given up with its write, and holds nothing but bytes", async () => {
  const host = new FakeHost({});
  const files = new RemoteFiles(host);
  const aborter = new AbortController();
  let cancelled = "";
  const stalled = new ReadableStream<Uint8Array>({ cancel: ({ message }) => void (cancelled = message) });
  const writing = files.writeFile("/a", stalled, { signal: aborter.signal });
  aborter.abort(new Error("enough"));
  await assert.rejects(writing, { message: "enough" });
  assert.equal(cancelled, "enough");
  const texts = ReadableStream.from(["text"]) as ReadableStream<unknown> as ReadableStream<Uint8Array>;
  await assert.rejects(files.writeFile("/a", texts), { name: "TypeError" });
  assert.deepEqual(host.asked, []);
});

Deno.test("a stream that fails leaves its own reason, and a closed file", async () => {
  const host = sink([]);
  const failing = new ReadableStream<Uint8Array>({ pull: () => Promise.reject(new Error("source gone")) });
  await assert.rejects(new RemoteFiles(host).writeFile("/a", failing), { message: "source gone" });
  assert.deepEqual(host.methods(), ["fs/open", "fs/close"]);
});
