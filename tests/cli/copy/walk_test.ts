import assert from "node:assert/strict";
import type { Copying } from "../../../lib/cli/copy/copying.ts";
import { downloadByWalking } from "../../../lib/cli/copy/download_walk.ts";
import { FarPrograms } from "../../../lib/cli/copy/far_programs.ts";
import { FarSide } from "../../../lib/cli/copy/far_side.ts";
import { CopyReport } from "../../../lib/cli/copy/report.ts";
import { isFinal } from "../../../lib/cli/copy/walk_words.ts";
import { CopyError } from "../../../lib/cli/copy/target.ts";
import { noProgress } from "../../../lib/cli/progress.ts";
import { FileError } from "../../../lib/client/file_error.ts";
import type { Files } from "../../../lib/client/files.ts";

function copying(files: Partial<Files>): Copying {
  const { signal } = new AbortController();
  const far = new FarSide(
    { files } as unknown as ConstructorParameters<typeof FarSide>[0],
    { platformOs: "windows", cwd: "file:///C:/" } as unknown as ConstructorParameters<typeof FarSide>[1],
    signal,
  );
  return {
    far,
    programs: new FarPrograms(far),
    origin: "test",
    hasExtensions: false,
    progress: noProgress,
    report: new CopyReport(),
    signal,
  };
}

Deno.test("a server that names files outside of the tree is not believed", async () => {
  for (const name of ["../up", "..", "a/b", "", "nul\0"]) {
    const directory = await Deno.makeTempDir({ prefix: "exec-server-walk-" });
    try {
      const job = copying({ readDir: () => Promise.resolve([{ name, isDirectory: false, isFile: true }]) });
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
    const job = copying(files);
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
