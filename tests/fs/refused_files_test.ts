import assert from "node:assert/strict";
import { ExecError } from "../../lib/errors.ts";
import type { Caller, FileOperations } from "../../lib/fs/operations.ts";
import { RefusedFiles } from "../../lib/fs/sandboxed/refused_files.ts";
import type { FileConfinement } from "../../lib/sandbox/sandbox.ts";
import { bytesOf } from "./scratch.ts";

const path = bytesOf("/file");
const caller: Caller = { signal: new AbortController().signal, budgetMs: () => 5 };

/** Every operation, called once. */
function all(files: FileOperations): Promise<unknown>[] {
  const flags = { recursive: false, followSymlinks: true };
  const limits = { maxDepth: 1, maxDirectories: 1, maxEntries: 1 };
  return [
    files.readFile(path, true, caller),
    files.openForReading(path, caller),
    files.openForReplacing(path, caller),
    files.writeFile(path, bytesOf("x"), true, caller),
    files.createDirectory(path, flags, caller),
    files.getMetadata(path, true, caller),
    files.canonicalize(path, caller),
    files.readDirectory(path, caller),
    files.walk(path, { ...limits, followDirectorySymlinks: false, pruneHiddenDirectories: false }, caller),
    files.remove(path, { ...flags, force: true }, caller),
    files.copy(path, path, false, caller),
  ].map((result) => Promise.resolve(result));
}

Deno.test("where files cannot be confined every operation is refused in the words that clients know", async () => {
  using refused = new RefusedFiles();
  const enforce = () => Promise.resolve({} as FileConfinement);
  const expected = {
    kind: "internal",
    message: "fs sandbox helper failed with status unavailable: requests for files are not confined on this system, " +
      "and not done unconfined",
  };
  const operations = refused.operations(enforce);
  for (const result of all(operations)) await assert.rejects(result, expected);
  await assert.rejects(refused.during(enforce, caller), expected);
  // Whatever is added to the operations has to be here as well.
  assert.equal(all(operations).map((result) => result.catch(() => {})).length, Object.keys(operations).length - 1);
});

Deno.test("what the sandbox itself says comes first", async () => {
  using refused = new RefusedFiles();
  const reason = new ExecError("internal", "fs sandbox helper failed with status unavailable: the policy is odd");
  for (const result of all(refused.operations(() => Promise.reject(reason)))) await assert.rejects(result, reason);
});
