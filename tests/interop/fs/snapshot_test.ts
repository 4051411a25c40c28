import assert from "node:assert/strict";
import * as posix from "./posix.ts";
import { difference, type Snapshot, take } from "./snapshot.ts";
import { build, type Entry } from "./tree.ts";

const ignore = Deno.build.os !== "linux";

const ENTRIES: readonly Entry[] = [
  { path: "d", kind: "directory", mode: 0, time: [-5, 0] },
  { path: "d/\xff", kind: "file", size: 300, mode: 0, time: [1, 999_999_999] },
  { path: "d/\xff/below", kind: "fifo" },
  { path: "link", kind: "link", to: "<tree>/d", time: [2, 0] },
  { path: "twin", kind: "hard link", to: "d/\xff" },
  { path: "other", kind: "file", size: 300, mode: 0o4755, time: [1, 0] },
  { path: "none", kind: "hard link", to: "nothing" },
  { path: "fifo", kind: "fifo" },
  { path: "socket", kind: "socket" },
];

/** Builds the entries twice, lets one be changed, and compares. */
function compare(change: (tree: string) => void): string | null {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "exec-server-snapshot-" }));
  try {
    const since = Date.now() - 60_000;
    const look = (name: string): Snapshot => take(`${root}/${name}`, { since, name: "<tree>" });
    build(`${root}/a`, ENTRIES);
    build(`${root}/b`, ENTRIES);
    change(`${root}/b`);
    return difference(look("a"), look("b"));
  } finally {
    posix.removeTree(root);
  }
}

Deno.test({ name: "the same entries make the same trees, and looking at them changes nothing", ignore }, () => {
  assert.equal(compare((tree) => take(tree, { since: 0, name: "x" })), null);
});

Deno.test({ name: "a tree holds what its entries say; impossible ones are left out", ignore }, () => {
  let lines: string[] = [];
  compare((tree) => {
    lines = [...take(tree, { since: 1e12, name: "<tree>" })].map(([path, { line }]) => `${path}: ${line}`);
  });
  assert.deepEqual(
    lines.filter((line) => !/^: directory|^(fifo|socket)/.test(line)).map((line) =>
      line.replace(/(directory.*) \d+$/, "$1")
    ),
    [
      "d: directory 0000 -5000.000000",
      'd/\xff: file 0000 1999.999999 300 2 links, the first "d/\xff"',
      'link: link 0777 2000.000000 "<tree>/d"',
      "other: file 4755 1000.000000 300",
      'twin: file 0000 1999.999999 300 2 links, the first "d/\xff"',
    ],
  );
});

Deno.test(
  { name: "a comparison finds names, modes, contents, targets, times, kinds and lost hard links", ignore },
  () => {
    const changes: Record<string, [(tree: string) => void, RegExp]> = {
      name: [
        (tree) => posix.rename(`${tree}/other`, `${tree}/OTHER`),
        /"OTHER": nothing \| file.*\n"other": file.*\| nothing/,
      ],
      mode: [(tree) => posix.chmod(`${tree}/other`, 0o755), /"other": file 4755 1.* \| file 0755 1/],
      content: [(tree) => {
        posix.write(`${tree}/other`, new Uint8Array([1]), 200);
        posix.setTime(`${tree}/other`, 1, 0);
        posix.chmod(`${tree}/other`, 0o4755);
      }, /"other": byte 200 is \d+ \| 1$/],
      time: [
        (tree) => posix.truncate(`${tree}/other`, 300),
        /"other": file 4755 1000.000000 300 \| file \d{4} now 300/,
      ],
      target: [(tree) => {
        posix.unlink(`${tree}/link`);
        posix.symlink("d", `${tree}/link`);
        posix.setTime(`${tree}/link`, 2, 0);
      }, /"link": link 0777 2000.000000 "<tree>\/d" \| link 0777 2000.000000 "d"/],
      kind: [(tree) => {
        posix.unlink(`${tree}/fifo`);
        posix.write(`${tree}/fifo`, new Uint8Array());
      }, /"fifo": fifo .* \| file /],
      identity: [(tree) => {
        posix.unlink(`${tree}/twin`);
        posix.link(`${tree}/other`, `${tree}/twin`);
      }, /"twin": file 0000/],
    };
    for (const [what, [change, expected]] of Object.entries(changes)) {
      assert.match(
        compare(change) ?? "nothing",
        expected,
        what,
      );
    }
  },
);
