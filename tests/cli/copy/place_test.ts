import assert from "node:assert/strict";
import { environmentPath, parsePlace, saysContents, saysDirectory } from "../../../lib/cli/copy/place.ts";

Deno.test("an operand of cp names a stream, the environment or a local path", () => {
  assert.deepEqual(parsePlace("-"), { side: "stream" });
  assert.deepEqual(parsePlace("env:/tmp/a b"), { side: "environment", path: "/tmp/a b" });
  assert.deepEqual(parsePlace("env:"), { side: "environment", path: "." });
  assert.deepEqual(parsePlace("./env:x"), { side: "local", path: "./env:x" });
  assert.deepEqual(parsePlace("C:\\x"), { side: "local", path: "C:\\x" });
});

Deno.test("the prefix may be left out where only the environment can be meant", () => {
  assert.deepEqual(["a", "env:a", "env:", "/"].map(environmentPath), ["a", "a", ".", "/"]);
});

Deno.test("a path's end can say that it is a directory, or that its contents are meant", () => {
  const paths = ["a/", "a/.", "a/..", ".", "..", "/", "a", "a.", "...", "", ".a"];
  assert.deepEqual(paths.filter(saysDirectory), ["a/", "a/.", "a/..", ".", "..", "/"]);
  assert.deepEqual(paths.filter(saysContents), ["a/.", "."]);
});
