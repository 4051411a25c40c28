import assert from "node:assert/strict";
import { walk } from "./places.ts";
import * as posix from "./posix.ts";

const ignore = Deno.build.os !== "linux";

Deno.test({ name: "walk goes where the kernel goes, with and without a base", ignore }, () => {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "exec-server-places-" }));
  try {
    const base = `${root}/base`;
    for (const path of ["base", "base/d", "base/d/e"]) posix.mkdir(`${root}/${path}`);
    posix.symlink("d/e", `${base}/relative`);
    posix.symlink(`${base}/relative/../..`, `${base}/absolute`);
    posix.symlink("../loop", `${base}/d/loop`);
    posix.symlink("d/loop", `${base}/loop`);
    const cases: readonly (readonly [path: string, end: string, entry: string])[] = [
      ["d/e", "d/e", "d/e"],
      ["d/./e//", "d/e", "d/e"],
      ["relative", "d/e", "relative"],
      ["relative/..", "d", "d"],
      ["relative/../e", "d/e", "d/e"],
      ["absolute", "", "absolute"],
      ["absolute/d/new/x", "d/new/x", "d/new/x"],
      ["missing/../d", "d", "d"],
      ["d/../relative/x", "d/e/x", "d/e/x"],
    ];
    for (const [path, end, entry] of cases) {
      for (const start of ["", base]) {
        const found = walk(`${base}/${path}`, start);
        const at = (place: string) => place === "" ? base : `${base}/${place}`;
        assert.deepEqual([found.end, found.entry], [at(end), at(entry)], `${path} from ${start}`);
        assert.ok(found.places.includes(found.end));
      }
    }
    assert.equal(walk(`${base}/loop/x`).entry !== "", true);
    assert.deepEqual(walk(`${base}/../..`, base).end, root.slice(0, root.lastIndexOf("/")));
  } finally {
    posix.removeTree(root);
  }
});
