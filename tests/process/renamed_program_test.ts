import assert from "node:assert/strict";
import { ENOENT } from "../../lib/linux/errno.ts";
import { findRenamedProgram } from "../../lib/process/renamed_program.ts";
import { readCases } from "../support/cases.ts";
import { launchSpec } from "../support/child_record.ts";
import { bytes } from "../support/linux.ts";
import { type ProgramCase, testPrograms } from "../support/program_cases.ts";

testPrograms(
  "programs with another argv[0] on a terminal are found and refused as by the reference",
  readCases<ProgramCase>("renamed_program_cases.jsonl", import.meta.url),
);

/** What the reference finds for `prog` if its own directory is /here/now, and where it starts it. */
function find(home: string | null, path: string, executable: string): { path: string; cwd: string } {
  const env = new Map([["PATH", path], ...(home === null ? [] : [["HOME", home] as const])]);
  const spec = launchSpec(["prog"], { tty: true, arg0: "other", cwd: bytes("/missing"), env });
  const decoder = new TextDecoder();
  const found = findRenamedProgram(
    spec,
    () => "/account",
    () => "/here/now",
    (asked) => decoder.decode(asked) === executable ? 0 : ENOENT,
  );
  return { path: decoder.decode(found.path), cwd: decoder.decode(found.cwd) };
}

Deno.test("a HOME that is a relative path is searched below our own directory, and is the child's as it is", () => {
  for (
    const [home, path, program] of [
      ["home", ":/bin", "/here/now/home/prog"],
      [".", "bin:/bin", "/here/now/bin/prog"],
      ["./bin//", ":bin", "/here/now/bin/prog"],
      ["..", "x", "/here/now/../x/prog"],
      ["home/.././/bin", ":/bin", "/here/now/home/../bin/prog"],
    ] as const
  ) assert.deepEqual(find(home, path, program), { path: program, cwd: home });
});

Deno.test("without a directory and a HOME the search begins at the account's", () => {
  assert.deepEqual(find(null, "bin", "/account/bin/prog"), { path: "/account/bin/prog", cwd: "/account" });
});
