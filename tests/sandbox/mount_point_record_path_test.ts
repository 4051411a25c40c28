import assert from "node:assert/strict";
import { isRecordInUse, recordPath } from "../../lib/sandbox/mount_point_record_path.ts";
import { MountPointScratch } from "./simulated_server.ts";

const uid = Deno.uid() ?? 0;

Deno.test("The record lies in the user's own directory for such things, or in one below /tmp", () => {
  const directory = Deno.makeTempDirSync();
  try {
    Deno.chmodSync(directory, 0o700);
    assert.equal(recordPath(directory, uid), `${directory}/exec-server/mount-points`);
    const other = recordPath(undefined, uid + 1);
    assert.ok(
      [`/run/user/${uid + 1}/exec-server/mount-points`, `/tmp/exec-server-${uid + 1}/mount-points`].includes(other),
    );
    // Somebody else's, open to others, or none: as if it had not been named.
    assert.equal(recordPath(directory, uid + 1), other);
    Deno.symlinkSync("loop", `${directory}/loop`);
    const unusable = ["/dev/null/below", `${directory}/loop`, `/${"a".repeat(5000)}`];
    for (const wrong of [`${directory}/none`, "relative", "", "/dev/null", ...unusable]) {
      assert.equal(recordPath(wrong, uid), recordPath(undefined, uid));
    }
    Deno.chmodSync(directory, 0o710);
    assert.equal(recordPath(directory, uid), recordPath(undefined, uid));
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});

Deno.test("A record is in use while a server lives that has made placeholders, or after it was killed", async () => {
  using scratch = new MountPointScratch();
  assert.equal(isRecordInUse(scratch.record), false);
  const server = scratch.server();
  await server.points.hold([scratch.git]);
  assert.equal(isRecordInUse(scratch.record), true);
  server.die();
  assert.equal(isRecordInUse(scratch.record), true);
  const next = scratch.server();
  await next.points.cleanUp();
  assert.equal(isRecordInUse(scratch.record), false);
  await next.points[Symbol.asyncDispose]();
});
