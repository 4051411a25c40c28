import assert from "node:assert/strict";
import { TarFilter } from "../../../lib/cli/copy/tar_filter.ts";
import { archiveOf, type MadeUpEntry, paxRecord } from "./made_up_archive.ts";

const ROOT: MadeUpEntry = { name: "./", type: "5" };
const pax = (...records: [string, string][]): MadeUpEntry => ({
  name: "PaxHeader",
  type: "x",
  content: records.map(([key, value]) => paxRecord(key, value)).join(""),
});
const raw = (content: string): MadeUpEntry => ({ name: "PaxHeader", type: "x", content });

function pass(entries: readonly MadeUpEntry[]): string[] {
  const names: string[] = [];
  const filter = new TarFilter({ entry: (name) => names.push(name) });
  filter.push(archiveOf([ROOT, ...entries]));
  filter.end();
  return names.slice(1);
}

Deno.test("an archive that leads through a link of its own is refused, however it says so", () => {
  const link: MadeUpEntry = { name: "./l", type: "2", linkName: "/etc" };
  const cases: MadeUpEntry[][] = [
    [link, { name: "./l/f" }],
    [link, { name: "l//./f" }],
    [link, { name: "l/", type: "5" }],
    [link, { name: "x" }, pax(["path", "l/f"]), { name: "harmless" }],
    [link, pax(["GNU.sparse.name", "l/f"]), { name: "harmless" }],
    [link, { name: "././@LongLink", type: "L", content: "l/f\0" }, { name: "harmless" }],
    [link, { name: "f", prefix: "l" }],
    [link, { name: "l/m", type: "2", linkName: "x" }],
    [link, { name: "h", type: "1", linkName: "l/passwd" }],
    [link, { name: "h", type: "1", linkName: "l" }, { name: "h/f" }],
    [{ name: "d/", type: "5" }, { name: "d", type: "2", linkName: "/etc" }, { name: "d/f" }],
  ];
  for (const entries of cases) {
    assert.throws(
      () => pass(entries),
      { name: "TarError", message: /through a link of its own/ },
      JSON.stringify(entries),
    );
  }
  assert.deepEqual(
    pass([link, { name: "lf" }, { name: "d/", type: "5" }, { name: "d/l" }]),
    ["./l", "lf", "d/", "d/l"],
  );
});

Deno.test("an archive that one tar would read otherwise than another is refused", () => {
  const cases: MadeUpEntry[][] = [
    // Lengths and sizes that only some read as numbers.
    [raw("1e1 path=a\n"), { name: "f" }],
    [raw("0x9 a=bc\n"), { name: "f" }],
    [raw("012 path=abc\n"), { name: "f" }],
    [raw("11 path=abcd"), { name: "f" }],
    [raw("5 =b\n"), { name: "f" }],
    [pax(["size", "0x400"]), { name: "f" }],
    [pax(["size", "1024"]), { name: "f" }],
    [pax(["size", "-1"]), { name: "f" }],
    [pax(["size", "512"]), { name: "d", type: "5" }],
    // A byte order mark is no part of any key.
    [raw("15 \ufeffpath=../x\n"), { name: "f", magic: "ustax\x0000" }],
    // Two names for one entry.
    [pax(["path", "a"]), pax(["path", "b"]), { name: "f" }],
    [{ name: "L", type: "L", content: "a\0" }, { name: "L", type: "L", content: "b\0" }, { name: "f" }],
    [{ name: "L", type: "L", content: "a\0" }, pax(["path", "b"]), { name: "f" }],
    [pax(["path", "b"]), { name: "L", type: "L", content: "a\0" }, { name: "f" }],
    // Formats in which a prefix is none, or may be.
    [{ name: "f", magic: "" }],
    [{ name: "f", magic: "ustar  x" }],
    // What is a directory for some.
    [{ name: "f/", content: "x" }],
    [{ name: "f/" }],
  ];
  for (const entries of cases) {
    assert.throws(() => pass(entries), { name: "TarError", message: /broken|format/ }, JSON.stringify(entries));
  }
  for (const path of ["a\0/../..", "../x", "/x"]) {
    assert.throws(() => pass([pax(["path", path]), { name: "f" }]), { message: /outside of the tree/ }, path);
  }
});

Deno.test("what honest archives have is no reason to refuse them", () => {
  assert.deepEqual(
    pass([
      pax(["path", "\ufeffé/f"], ["mtime", "1.5"], ["size", "3"]),
      { name: "f", content: "abc" },
      { name: "L", type: "L", content: "long\0" },
      { name: "K", type: "K", content: "to\0" },
      { name: "l", type: "2", magic: "ustar  \0" },
      { name: "again", type: "1", linkName: "l" },
      pax(["GNU.sparse.name", "sparse"], ["GNU.sparse.realsize", "5"]),
      { name: "GNUSparseFile.0/sparse", content: "x" },
      { name: "g", type: "g", content: paxRecord("comment", "x") },
      { name: "name", prefix: "directory" },
    ]),
    ["\ufeffé/f", "long", "again", "sparse", "directory/name"],
  );
});
