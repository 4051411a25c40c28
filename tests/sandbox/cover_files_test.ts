import assert from "node:assert/strict";
import { makeCoverFiles } from "../../lib/sandbox/cover_files.ts";

function inDirectory(test: (directory: string) => void): void {
  const directory = Deno.makeTempDirSync();
  try {
    test(directory);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}

Deno.test("makeCoverFiles makes an unreadable and a readable empty file, once", () => {
  inDirectory((directory) => {
    const covers = makeCoverFiles(directory);
    assert.deepEqual(covers, { unreadable: `${directory}/unreadable`, empty: `${directory}/empty` });
    const modes = Object.values(covers).map((path) => Deno.statSync(path).mode! & 0o7777);
    assert.deepEqual(modes, [0, 0o600]);
    const inode = Deno.statSync(covers.empty).ino;
    assert.deepEqual(makeCoverFiles(directory), covers);
    assert.equal(Deno.statSync(covers.empty).ino, inode);
  });
});

Deno.test("makeCoverFiles takes nothing that is not what it made", () => {
  const intruders: ((path: string) => void)[] = [
    (path) => Deno.writeTextFileSync(path, "text", { mode: 0o600 }),
    (path) => Deno.symlinkSync("/etc/passwd", path),
    (path) => Deno.mkdirSync(path),
    (path) => Deno.writeTextFileSync(path, "", { mode: 0o644 }),
  ];
  for (const intrude of intruders) {
    inDirectory((directory) => {
      intrude(`${directory}/empty`);
      assert.throws(() => makeCoverFiles(directory), /empty is not the empty file that we made/);
    });
  }
});
