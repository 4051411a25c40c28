import assert from "node:assert/strict";
import { close } from "../../lib/linux/libc.ts";
import { hasTableChanged, OwnMounts } from "../../lib/linux/mount_table.ts";
import { openForReading } from "../../lib/linux/namespace_calls.ts";

const ignore = Deno.build.os !== "linux";

Deno.test({
  name: "a table of mounts that nobody has touched has not changed, and what is none is told from it",
  ignore,
  fn() {
    const table = openForReading("/proc/thread-self/mountinfo");
    assert.equal(hasTableChanged(table), false);
    close(table);
    const file = openForReading("/proc/self/stat");
    assert.equal(hasTableChanged(file), false);
    close(file);
  },
});

Deno.test({
  name: "OwnMounts that cannot tell say each time that something has changed",
  ignore,
  fn() {
    const mounts = new OwnMounts();
    assert.equal(mounts.changes, mounts.changes);
    mounts[Symbol.dispose]();
    assert.notEqual(mounts.changes, mounts.changes);
    mounts[Symbol.dispose]();
  },
});
