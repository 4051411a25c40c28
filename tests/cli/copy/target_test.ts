import assert from "node:assert/strict";
import { chooseTarget, type Kind, type Side, type Source } from "../../../lib/cli/copy/target.ts";

const KINDS: Readonly<Record<string, Kind>> = {
  "/": "directory",
  "/dir": "directory",
  "/dir/sub": "directory",
  "/dir/old": "file",
  "/file": "file",
  "/dangling": "danglingLink",
  "/null": "special",
};
const SIDE: Side = {
  kind: (path) => Promise.resolve(KINDS[path] ?? "missing"),
  child: (directory, name) => `${directory}/${name}`,
  parent: (path) => path.slice(0, path.lastIndexOf("/")) || "/",
  shown: (path) => path,
};
const file = (name: string | undefined): Source => ({ isDirectory: false, name, contentsOnly: false, shown: "SOURCE" });
const directory = (name: string, contentsOnly = false): Source => ({
  isDirectory: true,
  name,
  contentsOnly,
  shown: "SOURCE",
});
const choose = (path: string, source: Source, saysDirectory = false) => chooseTarget(SIDE, path, saysDirectory, source);

Deno.test("a file goes to the name that was given, or into a directory under its own", async () => {
  assert.deepEqual(await choose("/new", file("a")), { path: "/new", exists: false });
  assert.deepEqual(await choose("/file", file("a")), { path: "/file", exists: true });
  assert.deepEqual(await choose("/dir", file("a")), { path: "/dir/a", exists: false, isInside: true });
  assert.deepEqual(await choose("/dir", file("old")), { path: "/dir/old", exists: true, isInside: true });
  assert.deepEqual(await choose("/dir", file("a"), true), { path: "/dir/a", exists: false, isInside: true });
});

Deno.test("a directory becomes the name that was given, or goes into a directory, or only what is in it does", async () => {
  assert.deepEqual(await choose("/new", directory("d")), { path: "/new", exists: false });
  assert.deepEqual(await choose("/new", directory("d"), true), { path: "/new", exists: false });
  assert.deepEqual(await choose("/dir", directory("d")), { path: "/dir/d", exists: false, isInside: true });
  assert.deepEqual(await choose("/dir", directory("sub")), { path: "/dir/sub", exists: true, isInside: true });
  assert.deepEqual(await choose("/dir", directory("d", true)), { path: "/dir", exists: true });
  assert.deepEqual(await choose("/new", directory("d", true)), { path: "/new", exists: false });
});

Deno.test("what cannot be is refused with the path that is in the way", async () => {
  const cases: [Promise<unknown>, RegExp][] = [
    [choose("/new", file("a"), true), /^there is no directory \/new$/],
    [choose("/no/new", file("a")), /^\/no does not exist/],
    [choose("/file/new", file("a")), /^\/file is not a directory/],
    [choose("/file", file("a"), true), /^\/file is not a directory$/],
    [choose("/file", directory("d")), /^\/file is a file, and SOURCE is a directory$/],
    [choose("/dir", file("sub")), /^\/dir\/sub is a directory, and SOURCE is a file$/],
    [choose("/dir", directory("old")), /^\/dir\/old is a file, and SOURCE is a directory$/],
    [choose("/dir", file(undefined)), /^\/dir is a directory, and SOURCE has no name/],
    [choose("/dangling", file("a")), /^\/dangling is a link that leads nowhere/],
    [choose("/null", file("a")), /^\/null is neither a file nor a directory/],
  ];
  for (const [attempt, message] of cases) await assert.rejects(attempt, { name: "CopyError", message });
});
