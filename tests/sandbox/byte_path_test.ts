import assert from "node:assert/strict";
import fc from "fast-check";
import {
  fromBytes,
  fromText,
  isAtOrBelow,
  join,
  normalized,
  parent,
  toBytes,
  toText,
} from "../../lib/sandbox/byte_path.ts";

Deno.test("bytes become a string and the same bytes again", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
    assert.deepEqual(toBytes(fromBytes(bytes)), new Uint8Array(bytes));
  }));
  const long = new Uint8Array(100_000).map((_, index) => index);
  assert.deepEqual(toBytes(fromBytes(long)), long);
});

Deno.test("a text is its UTF-8 bytes", () => {
  assert.equal(fromText("/é"), "/\xc3\xa9");
  assert.equal(toText(fromText("/é\u{1F600}")), "/é\u{1F600}");
  assert.equal(toText("/\xff"), "/\ufffd");
});

Deno.test("paths are joined and taken apart", () => {
  assert.equal(join("/", "a"), "/a");
  assert.equal(join("/a", "b"), "/a/b");
  assert.equal(parent("/a/b"), "/a");
  assert.equal(parent("/a"), "/");
  assert.equal(parent("/"), "/");
});

Deno.test("a path is at or below another by whole names", () => {
  assert.ok(isAtOrBelow("/a/b", "/a"));
  assert.ok(isAtOrBelow("/a", "/a"));
  assert.ok(isAtOrBelow("/a", "/"));
  assert.ok(!isAtOrBelow("/ab", "/a"));
  assert.ok(!isAtOrBelow("/a", "/a/b"));
});

Deno.test("dots and doubled slashes are resolved", () => {
  assert.equal(normalized("/a/./b//../c/"), "/a/c");
  assert.equal(normalized("/../.."), "/");
});
