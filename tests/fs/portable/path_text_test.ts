import assert from "node:assert/strict";
import { childOf, directoriesAbove, isRoot, nameOf, parentOf, pathText } from "../../../lib/fs/portable/path_text.ts";

const WINDOWS = "backslash";

Deno.test("pathText() has text for UTF-8 only, a byte order mark included", () => {
  assert.equal(pathText(new TextEncoder().encode("/\ufeffé")), "/\ufeffé");
  assert.throws(() => pathText(new Uint8Array([0x2f, 0xff])), { message: "No such file or directory (os error 2)" });
});

Deno.test("directoriesAbove() begins with the root", () => {
  assert.deepEqual(directoriesAbove("/a/b/c"), ["/", "/a", "/a/b"]);
  assert.deepEqual(directoriesAbove("/"), []);
  assert.deepEqual(directoriesAbove("C:\\a\\b", WINDOWS), ["C:\\", "C:\\a"]);
  assert.deepEqual(directoriesAbove("\\\\host\\share\\a\\b", WINDOWS), ["\\\\host\\share\\", "\\\\host\\share\\a"]);
});

Deno.test("a root is a slash, a drive or a share", () => {
  assert.equal(isRoot("/"), true);
  assert.equal(isRoot("/a"), false);
  for (const root of ["C:\\", "C:", "\\\\host\\share", "\\\\host\\share\\"]) assert.equal(isRoot(root, WINDOWS), true);
  assert.equal(isRoot("C:\\a", WINDOWS), false);
});

Deno.test("a path is the name in its parent", () => {
  for (const path of ["/a", "/a/b"]) assert.equal(childOf(parentOf(path), nameOf(path)), path);
  for (const path of ["C:\\a", "C:\\a\\b", "\\\\host\\share\\a"]) {
    assert.equal(childOf(parentOf(path, WINDOWS), nameOf(path, WINDOWS), WINDOWS), path);
  }
  assert.equal(nameOf("/"), "");
  assert.equal(parentOf("/"), "/");
});
