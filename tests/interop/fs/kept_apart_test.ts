import assert from "node:assert/strict";
import { OUR_RULES, REFERENCE_RULES } from "../../wire/differences.ts";
import { deedKeptApart, keptApart } from "./kept_apart.ts";
import * as posix from "./posix.ts";
import { build, type Entry } from "./tree.ts";

const ignore = Deno.build.os !== "linux";
const time = [0, 0] as const;
const ENTRIES: readonly Entry[] = [
  { path: "file", kind: "file", size: 1, mode: 0o644, time },
  { path: "twin", kind: "hard link", to: "file" },
  { path: "other", kind: "file", size: 1, mode: 0o644, time },
  { path: "fifo", kind: "fifo" },
  { path: "to fifo", kind: "link", to: "fifo", time },
  { path: "to file", kind: "link", to: "file", time },
  { path: "d", kind: "directory", mode: 0o755, time },
  { path: "d/x", kind: "hard link", to: "file" },
  { path: "e", kind: "directory", mode: 0o755, time },
  { path: "e/to", kind: "link", to: "../to fifo", time },
  { path: "out", kind: "directory", mode: 0o755, time },
  { path: "out/l", kind: "link", to: "../other", time },
  { path: "in", kind: "directory", mode: 0o755, time },
  { path: "in/l", kind: "link", to: "nowhere", time },
  { path: "b", kind: "directory", mode: 0o755, time },
  { path: "b/a\nb", kind: "fifo" },
];

/** What keeps requests on a tree of these entries apart. */
function scene(
  test: (reason: (method: string, params: unknown) => string | null, uri: (name: string) => string) => void,
): void {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "exec-server-apart-" }));
  try {
    build(`${root}/t`, ENTRIES);
    test(
      (method, params) => keptApart(JSON.stringify({ id: 1, method, params }), root, OUR_RULES),
      (name) => `file://${root}/t/${encodeURIComponent(name).replaceAll("%2F", "/")}`,
    );
  } finally {
    posix.removeTree(root);
  }
}

Deno.test({ name: "what would wait for the reader of a fifo is kept apart", ignore }, () => {
  scene((reason, uri) => {
    const write = (path: string, more = {}) => reason("fs/writeFile", { path, dataBase64: "", ...more });
    const copy = (from: string, to: string) =>
      reason("fs/copy", { sourcePath: uri(from), destinationPath: uri(to), recursive: true });
    assert.equal(write(uri("fifo")), "fifoWithoutReader");
    assert.equal(write(uri("to fifo")), "fifoWithoutReader");
    assert.equal(write(uri("fifo"), { followSymlinks: false }), null);
    assert.equal(write(uri("other")), null);
    assert.equal(reason("fs/writeFile", [uri("fifo"), "", null, null]), "fifoWithoutReader");
    assert.equal(copy("file", "to fifo"), "fifoWithoutReader");
    assert.equal(copy("d", "e"), "fifoWithoutReader");
    assert.equal(copy("e", "new"), null);
  });
});

Deno.test({ name: "a copy onto itself is kept apart, by whatever names", ignore }, () => {
  scene((reason, uri) => {
    const copy = (from: string, to: string) =>
      reason("fs/copy", { sourcePath: uri(from), destinationPath: uri(to), recursive: true });
    for (const to of ["file", "twin", "to file", "d"]) assert.equal(copy("file", to), "copyOntoItself", to);
    assert.equal(copy("other", "file"), null);
    const same = { sourcePath: uri("file"), destinationPath: uri("file"), recursive: true };
    const text = JSON.stringify({ id: 1, method: "fs/copy", params: same });
    assert.equal(keptApart(text, "/nowhere", REFERENCE_RULES), null);
  });
});

Deno.test({ name: "the copy of a tree past a link that may lead out is kept apart", ignore }, () => {
  scene((reason, uri) => {
    const copy = (from: string, to: string) =>
      reason("fs/copy", { sourcePath: uri(from), destinationPath: uri(to), recursive: true });
    assert.equal(copy("e", "out"), "copyThroughLinks");
    assert.equal(copy("file", "out"), null);
    assert.equal(copy("e", "in"), null);
  });
});

Deno.test({ name: "a walk past names with line breaks is kept apart", ignore }, () => {
  scene((reason, uri) => assert.equal(reason("fs/walk", { path: uri("b"), options: {} }), "walkLineBreaks"));
});

Deno.test("while a watch waits, content changes only where it concerns nobody", () => {
  const watch = (uri: string) =>
    JSON.stringify({ id: 1, method: "fs/watchMissing", params: { watchId: 1, missing: [uri] } });
  const write = (path: string) => ({ do: "write" as const, path, size: 1, offset: 0 });
  const plain = [watch("file://<tree>/a/w")];
  assert.equal(deedKeptApart(write("a/b"), plain, OUR_RULES), null);
  assert.equal(deedKeptApart(write("a/B"), plain, OUR_RULES), "watchNeighbours");
  assert.equal(deedKeptApart(write("a/\xff"), plain, OUR_RULES), "watchNeighbours");
  assert.equal(deedKeptApart(write("a/b"), [watch("file://<tree>/%C3%A9")], OUR_RULES), "watchNeighbours");
  assert.equal(deedKeptApart({ do: "mkdir", path: "a/B" }, plain, OUR_RULES), null);
  assert.equal(deedKeptApart(write("a/B"), plain, REFERENCE_RULES), null);
});
