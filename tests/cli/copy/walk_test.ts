import assert from "node:assert/strict";
import { downloadByWalking } from "../../../lib/cli/copy/download_walk.ts";
import { isFinal } from "../../../lib/cli/copy/walk_words.ts";
import { CopyError } from "../../../lib/cli/copy/target.ts";
import { FileError } from "../../../lib/client/file_error.ts";
import type { Files } from "../../../lib/client/files.ts";
import { copyingFrom } from "./fake_far_side.ts";

Deno.test("a server that names files outside of the tree is not believed", async () => {
  for (const name of ["../up", "..", "a/b", "", "nul\0"]) {
    const directory = await Deno.makeTempDir({ prefix: "exec-server-walk-" });
    try {
      const job = copyingFrom({ readDir: () => Promise.resolve([{ name, isDirectory: false, isFile: true }]) });
      await assert.rejects(downloadByWalking(job, "file:///C:/d", { path: `${directory}/new`, exists: false }), {
        name: "CopyError",
        message: /which no file can be called/,
      });
      assert.deepEqual([...Deno.readDirSync(directory)].map((entry) => entry.name), ["new"]);
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  }
});

Deno.test("one file that cannot be read is left out, and the end of the link ends it all", async () => {
  const directory = await Deno.makeTempDir({ prefix: "exec-server-walk-" });
  try {
    let failure = new FileError("InvalidInput", "Permission denied (os error 13)", { code: "EACCES" });
    const files: Partial<Files> = {
      readDir: () => Promise.resolve([{ name: "a", isDirectory: false, isFile: true }]),
      lstat: () => Promise.reject(failure),
    };
    const job = copyingFrom(files);
    await downloadByWalking(job, "file:///C:/d", { path: `${directory}/new`, exists: false });
    assert.equal(job.report.isComplete, false);
    assert.match(job.report.sentences()[0]!, /^left out: env:.*a: Permission denied/);
    failure = new FileError("BrokenPipe", "exec-server transport closed");
    await assert.rejects(downloadByWalking(job, "file:///C:/d", { path: `${directory}/new`, exists: true }), failure);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("a full disk and a lost link are no matter of one file", () => {
  assert.ok(isFinal(new FileError("BrokenPipe", "closed")));
  assert.ok(isFinal(new CopyError("x", { cause: new FileError("Other", "full", { code: "ENOSPC" }) })));
  assert.ok(!isFinal(new FileError("NotFound", "No such file", { code: "ENOENT" })));
  assert.ok(!isFinal(new CopyError("in the way")));
});
