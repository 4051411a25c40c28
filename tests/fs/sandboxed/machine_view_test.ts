import assert from "node:assert/strict";
import { processMounts } from "../../../lib/fs/sandboxed/helper/machine_view.ts";

const ignore = Deno.build.os !== "linux";

Deno.test({
  name: "file systems of processes are found wherever they are mounted, but for /proc itself",
  ignore,
  fn() {
    const table = [
      "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw",
      "23 22 0:21 / /proc rw,nosuid shared:12 - proc proc rw",
      "24 23 0:21 /sys /proc/sys ro - proc proc rw",
      "25 22 0:21 / /chroot/proc rw - proc proc rw",
      "26 22 0:40 / /with\\040space\\134 rw shared:3 master:1 - proc none rw",
      "27 22 0:21 /cpuinfo /box/cpuinfo rw - proc proc rw",
      "28 22 0:41 / /procession rw - tmpfs proc rw",
      "29 22 0:21 / /procession rw - proc proc rw",
      "30 22 0:21 / /procession rw - proc proc rw",
      "",
    ].join("\n");
    assert.deepEqual(processMounts(table), ["/chroot/proc", "/with space\\", "/box/cpuinfo", "/procession"]);
  },
});
