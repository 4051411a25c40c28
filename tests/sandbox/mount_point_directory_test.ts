import assert from "node:assert/strict";
import { silentLog } from "../../lib/log.ts";
import { MountPoints } from "../../lib/sandbox/mount_points.ts";
import { MountPointScratch } from "./simulated_server.ts";

const uid = Deno.uid() ?? 0;

function points(directory: string, more: { uid?: number } = {}): MountPoints {
  return new MountPoints({ directory, log: silentLog, ...more });
}

Deno.test("The record's directories are made for nobody else", async () => {
  using scratch = new MountPointScratch();
  await using made = points(`${scratch.root}/run/a/b`);
  await made.cleanUp();
  for (const path of ["a", "a/b"]) assert.equal(Deno.statSync(`${scratch.root}/run/${path}`).mode! & 0o777, 0o700);
});

Deno.test("A record that others could have changed is not used", async (t) => {
  const cases: Record<string, (path: string) => string> = {
    "others may use it": (path) => (Deno.mkdirSync(path), Deno.chmodSync(path, 0o755), "others may use it"),
    "it is a link": (path) => (Deno.symlinkSync("/tmp", path), "Not a directory"),
    "it is a file": (path) => (Deno.writeTextFileSync(path, ""), "Not a directory"),
  };
  for (const [what, make] of Object.entries(cases)) {
    for (const name of ["above", "above/record"]) {
      await t.step(`${what}: ${name}`, async () => {
        using scratch = new MountPointScratch();
        const above = `${scratch.root}/run/above`;
        if (name !== "above") Deno.mkdirSync(above, { mode: 0o700 });
        const path = `${scratch.root}/run/${name}`;
        const fault = make(path);
        await assert.rejects(points(`${above}/record`).hold([scratch.git]), {
          kind: "sandboxUnavailable",
          message: `the record of mount points cannot be kept in ${path}: ${fault}`,
        });
        assert.deepEqual(scratch.names, []);
      });
    }
  }
  await t.step("another user owns it", async () => {
    using scratch = new MountPointScratch();
    await points(scratch.record).cleanUp();
    await assert.rejects(points(scratch.record, { uid: uid + 1 }).cleanUp(), { message: /: another user owns it$/ });
  });
});
