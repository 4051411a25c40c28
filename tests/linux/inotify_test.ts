import assert from "node:assert/strict";
import { IN_CREATE, IN_Q_OVERFLOW, inotifyEvents } from "../../lib/linux/inotify.ts";

/** As the kernel writes it: the name filled up with NULs, empty where there is none. */
function event(watch: number, mask: number, name: readonly number[], length: number): number[] {
  const head = new Uint8Array(new Int32Array([watch, mask, 0, length]).buffer);
  return [...head, ...name, ...Array<number>(length - name.length).fill(0)];
}

Deno.test("inotifyEvents() takes a read apart, with names of any bytes", () => {
  const read = new Uint8Array([
    ...event(1, IN_CREATE, [0x61, 0xff], 16),
    ...event(2, IN_CREATE, [], 0),
    ...event(-1, IN_Q_OVERFLOW, [], 0),
    ...event(3, IN_CREATE, Array<number>(255).fill(0x62), 256),
  ]);
  assert.deepEqual(inotifyEvents(read), [
    { watch: 1, mask: IN_CREATE, name: "a\xff" },
    { watch: 2, mask: IN_CREATE, name: "" },
    { watch: -1, mask: IN_Q_OVERFLOW, name: "" },
    { watch: 3, mask: IN_CREATE, name: "b".repeat(255) },
  ]);
  assert.deepEqual(inotifyEvents(new Uint8Array()), []);
});
