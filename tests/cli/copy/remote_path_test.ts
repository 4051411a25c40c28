import assert from "node:assert/strict";
import {
  childUri,
  nameOf,
  parentUri,
  programPath,
  shownPath,
  withoutSlash,
} from "../../../lib/cli/copy/remote_path.ts";

Deno.test("URIs of paths are taken apart and put together by name", () => {
  assert.equal(withoutSlash("file:///a/b//"), "file:///a/b");
  assert.equal(withoutSlash("file:///"), "file:///");
  assert.equal(childUri("file:///", "a"), "file:///a");
  assert.equal(childUri("file:///a/", "b c%\n#?"), "file:///a/b%20c%25%0A%23%3F");
  assert.equal(parentUri("file:///a/b"), "file:///a");
  assert.equal(parentUri("file:///a/b/"), "file:///a");
  assert.equal(parentUri("file:///a"), "file:///");
  assert.equal(parentUri("file:///"), "file:///");
  assert.equal(nameOf("file:///a/b%20c/"), "b c");
  assert.equal(nameOf("file:///"), undefined);
  assert.equal(nameOf("file:///bad%FF"), undefined);
  for (const name of ["ä", "-rf", "100%", "a\\b", "new\nline", "q?x#y"]) {
    assert.equal(nameOf(childUri("file:///d", name)), name);
  }
});

Deno.test("a program is given a path only where text can say it", () => {
  assert.equal(programPath("file:///a%20b", "linux"), "/a b");
  assert.equal(programPath("file:///a%20b", undefined), "/a b");
  assert.equal(programPath("file:///bad%FF", "linux"), undefined);
  assert.equal(programPath("file:///C:/a", "windows"), undefined);
  assert.equal(shownPath("file:///a%20b"), "/a b");
  assert.equal(shownPath("file:///bad%FF"), "file:///bad%FF");
});
