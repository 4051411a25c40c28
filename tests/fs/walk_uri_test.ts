import assert from "node:assert/strict";
import type { WalkOptions } from "../../lib/fs/operations.ts";
import { walkChildUri, walkRootUri } from "../../lib/fs/walk_uri.ts";

const OPTIONS: WalkOptions = {
  maxDepth: 1,
  maxDirectories: 1,
  maxEntries: 1,
  followDirectorySymlinks: false,
  pruneHiddenDirectories: false,
};
const path = new TextEncoder().encode("/a b");

Deno.test("the root of a walk is named as it was asked for, in the usual way by default", () => {
  assert.equal(walkRootUri(path, OPTIONS), "file:///a%20b");
  assert.equal(walkRootUri(path, { ...OPTIONS, uri: "file:///%61%20b/" }), "file:///%61%20b/");
});

Deno.test("one slash at the end of a directory's URI separates its children", () => {
  assert.equal(walkChildUri("file:///", "x"), "file:///x");
  assert.equal(walkChildUri("file:///a", "x"), "file:///a/x");
  assert.equal(walkChildUri("file:///a//", "x"), "file:///a//x");
});
