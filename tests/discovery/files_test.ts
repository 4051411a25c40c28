import assert from "node:assert/strict";
import fc from "fast-check";
import { DiscoveryFiles, type ReadingOperations } from "../../lib/discovery/files.ts";
import { fullName, hostName } from "../../lib/discovery/host_name.ts";
import { inOrder } from "../../lib/discovery/in_order.ts";
import { readMembers } from "../../lib/discovery/roots/manifest_json.ts";
import { decodeUtf8 } from "../../lib/discovery/text_file.ts";
import { baseName, childUri, isWithin, parentUri, selfAndAncestors, uriOfPath } from "../../lib/discovery/uris.ts";
import { answerTo, hostBelow } from "./questions.ts";
import { plant } from "./tree.ts";
import { Scratch } from "../fs/scratch.ts";

Deno.test("bytes are text for us when they are for the platform, and a defect has a place and a length", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
      const decoded = decodeUtf8(bytes);
      const isText = "text" in decoded;
      assert.equal(isText, isUtf8(bytes));
      if (isText) assert.deepEqual(new TextEncoder().encode(decoded.text), bytes);
    }),
    { numRuns: 2000 },
  );
  for (
    const [bytes, defect] of [
      [[0x61, 0xff], "invalid utf-8 sequence of 1 bytes from index 1"],
      [[0xe2, 0x82], "incomplete utf-8 byte sequence from index 0"],
      [[0xe2, 0x82, 0x41], "invalid utf-8 sequence of 2 bytes from index 0"],
      [[0xf0, 0x9f, 0x98, 0x41], "invalid utf-8 sequence of 3 bytes from index 0"],
      [[0xed, 0xa0, 0x80], "invalid utf-8 sequence of 1 bytes from index 0"],
      [[0xc3, 0xa9, 0x80], "invalid utf-8 sequence of 1 bytes from index 2"],
    ] as const
  ) assert.deepEqual(decodeUtf8(new Uint8Array(bytes)), { defect });
});

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

Deno.test("URIs have parents, children and names", () => {
  assert.deepEqual([...selfAndAncestors("file:///a/b%20c")], ["file:///a/b%20c", "file:///a", "file:///"]);
  assert.equal(parentUri("file:///"), undefined);
  assert.equal(baseName("file:///a/b%20c"), "b c");
  assert.equal(baseName("file:///"), undefined);
  assert.equal(childUri("file:///", "a"), "file:///a");
  assert.equal(isWithin("file:///ab", "file:///a"), false);
  assert.equal(isWithin("file:///a/b", "file:///a"), true);
  assert.equal(isWithin("file:///a", "file:///"), true);
});

Deno.test("paths become URIs in their normal form", () => {
  for (
    const [path, base, uri] of [
      ["/a//b/./c/../d/", "file:///x", "file:///a/b/d"],
      ["a%20b", "file:///x", "file:///x/a%2520b"],
      ["../../..", "file:///x/y", "file:///"],
      ["é#?", "file:///", "file:///%C3%A9%23%3F"],
      ["x\\y", "file:///r", "file:///r/x%5Cy"],
    ] as const
  ) assert.equal(uriOfPath(path, base), uri);
});

Deno.test("the host has the name with a domain that its own table gives it", () => {
  const hosts =
    "127.0.0.1 localhost # short\nbogus q.r short\n127.0.1.1\tShort.Corp.X. other short\n127.0.1.2 c.d short\n";
  assert.equal(fullName("short", hosts), "short.corp.x");
  assert.equal(fullName("localhost", hosts), "localhost");
  assert.equal(fullName("unknown", hosts), "unknown");
  assert.equal(fullName("short", ""), "short");
});

Deno.test("a host without a table of hosts has a name all the same", async () => {
  const name = await hostName("/nonexistent/hosts");
  assert.equal(name, Deno.hostname().toLowerCase().replace(/\.$/, ""));
});

Deno.test("results come in the order of the items, so many at once and no more", async () => {
  let running = 0, most = 0;
  const work = async (item: number): Promise<number> => {
    most = Math.max(most, ++running);
    for (let turns = 1 + item % 4; turns > 0; turns--) await Promise.resolve();
    running--;
    return item * 2;
  };
  const items = Array.from({ length: 20 }, (_, item) => item);
  assert.deepEqual(await Array.fromAsync(inOrder(items, 3, work)), items.map((item) => item * 2));
  assert.equal(most, 3);
});

Deno.test("a failure comes in its turn and begins nothing new", async () => {
  const begun: number[] = [];
  const work = (item: number): Promise<number> => {
    begun.push(item);
    return item === 1 ? Promise.reject(new Error("one")) : Promise.resolve(item);
  };
  await assert.rejects(Array.fromAsync(inOrder([0, 1, 2, 3, 4, 5, 6], 2, work)), { message: "one" });
  assert.deepEqual(begun, [0, 1, 2]);
});

Deno.test("members that are there twice spoil a manifest, others do not", () => {
  assert.deepEqual(readMembers('{"a":1,"b":{"a":2},"c":[{"a":3}]}', ["a"]), { a: 1, b: { a: 2 }, c: [{ a: 3 }] });
  assert.equal(readMembers('{"a":1,"\\u0061":2}', ["a"]), undefined);
  assert.notEqual(readMembers('{"z":1,"z":2,"a":"}{\\":"}', ["a"]), undefined);
  assert.equal(readMembers('{"a":{"b":1,"b":2}}', ["a"], ["a", "b"]), undefined);
  assert.notEqual(readMembers('{"a":[{"b":1},{"b":2}]}', ["a"], ["a", "b"]), undefined);
  for (const text of ["", "null", "5", "[]", "[1,2]", '{"a":1} x']) assert.equal(readMembers(text, ["a"]), undefined);
});

Deno.test("long work gives way to others between two files", async () => {
  const files = new DiscoveryFiles(noFiles, { signal: new AbortController().signal, budgetMs: () => 0 });
  let turned = false;
  const timer = setTimeout(() => turned = true);
  for (let at = 0; at < 10_000 && !turned; at++) await files.metadataIfVisible("file:///x");
  clearTimeout(timer);
  assert.equal(turned, true);
});

Deno.test("work that nobody waits for any more is left", async () => {
  const ended = new AbortController();
  const files = new DiscoveryFiles(noFiles, { signal: ended.signal, budgetMs: () => 1 });
  ended.abort(new Error("gone"));
  await assert.rejects(files.metadataIfVisible("file:///x"), { message: "gone" });
  await assert.rejects(files.read("file:///x", 1), { message: "gone" });
});

Deno.test("discovery ends with the connection that asked for it", async () => {
  using scratch = new Scratch();
  plant(scratch.root, { "codex/config.toml": "a = 1", "work/SKILL.md": "x", "codex/skills/s/SKILL.md": "x" });
  const ended = new AbortController();
  ended.abort(new Error("gone"));
  const host = hostBelow(scratch.root);
  const cwd = `file://${scratch.root}/work`;
  for (
    const [method, params] of [
      ["environmentConfig/read", { cwd, configPaths: [["a"]], requirementsPaths: [] }],
      ["capabilityRoots/discoverV1", { roots: [{ id: "1", path: cwd }] }],
      ["capabilities/discoverV2", { cwd }],
    ] as const
  ) await assert.rejects(answerTo(host, method, params, { signal: ended.signal }), { message: "gone" });
});

const noFiles: ReadingOperations = {
  getMetadata: () => ({ isDirectory: false, isFile: true, isSymlink: false, size: 0 }),
  openForReading: () => ({ read: () => new Uint8Array(0), [Symbol.dispose]: () => {} }),
  canonicalize: (path) => path,
  walk: () => ({ entries: [], errors: [], truncated: false }),
};
