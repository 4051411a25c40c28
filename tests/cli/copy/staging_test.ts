import assert from "node:assert/strict";
import { downloadTree } from "../../../lib/cli/copy/download_tree.ts";
import { uploadTree } from "../../../lib/cli/copy/upload_tree.ts";
import { PARTIAL_SUFFIX } from "../../../lib/cli/copy/partial_file.ts";
import { copyingFrom } from "./fake_far_side.ts";

const onUnix = { ignore: Deno.build.os === "windows" };

Deno.test("a directory of ours that may have been made before an interruption is removed", onUnix, async () => {
  const directory = await Deno.makeTempDir({ prefix: "exec-server-staging-" });
  try {
    for (const direction of ["up", "down"]) {
      const removed: string[] = [];
      const job = copyingFrom({
        remove: (path) => {
          removed.push(String(path));
          return Promise.resolve();
        },
      }, ({ argv }) => {
        if (argv[0] === "mkdir") throw new Error("interrupted");
        return {};
      });
      const copy = direction === "up"
        ? uploadTree(job, directory, { path: "file:///far/new", exists: false })
        : downloadTree(job, "file:///far/old", { path: `${directory}/new`, exists: false }, "new");
      await assert.rejects(copy, { message: "interrupted" });
      assert.equal(removed.length, 1, direction);
      assert.ok(removed[0]!.endsWith(PARTIAL_SUFFIX));
      assert.deepEqual([...Deno.readDirSync(directory)], [], "nor is anything left here");
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
