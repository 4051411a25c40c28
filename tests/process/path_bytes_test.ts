import assert from "node:assert/strict";
import { join, normalise, splitSearchPath } from "../../lib/process/path_bytes.ts";
import { bytes } from "../support/linux.ts";

const text = (path: Uint8Array) => new TextDecoder().decode(path);

Deno.test("join leaves an absolute path as it is and doubles no slash", () => {
  const cases = [
    ["/a", "b", "/a/b"],
    ["/a/", "b", "/a/b"],
    ["/", "b", "/b"],
    ["", "b", "b"],
    ["/a", "", "/a/"],
    ["/a", "/b", "/b"],
  ];
  for (const [base, path, joined] of cases) assert.equal(text(join(bytes(base!), bytes(path!))), joined);
});

Deno.test("an empty PATH has one entry, and every colon one more", () => {
  const split = (path: string) => [...splitSearchPath(bytes(path))].map(text);
  assert.deepEqual(split(""), [""]);
  assert.deepEqual(split("/a:b"), ["/a", "b"]);
  assert.deepEqual(split(":/a::"), ["", "/a", "", ""]);
});

Deno.test("normalise takes out single dots and doubled slashes, and nothing else", () => {
  const cases = [
    ["/", "/"],
    ["/a/./b//c/.", "/a/b/c"],
    ["/a/../b", "/a/../b"],
    ["/.a/..b/c.", "/.a/..b/c."],
    ["//a", "//a"],
    ["///a", "/a"],
    ["//", "//"],
    ["a/./b/", "/base/a/b"],
    [".", "/base"],
    ["../a", "/base/../a"],
  ];
  for (const [path, normal] of cases) assert.equal(text(normalise(bytes(path!), () => bytes("/base"))), normal);
});

Deno.test("normalise keeps bytes that are not UTF-8", () => {
  const path = new Uint8Array([0x2f, 0xff, 0x2f, 0x2e, 0x2f, 0x80]);
  assert.deepEqual(normalise(path, () => path), new Uint8Array([0x2f, 0xff, 0x2f, 0x80]));
});
