import assert from "node:assert/strict";
import { constants } from "node:os";
import { readWaitStatus, signalName } from "../../../lib/process/linux/wait_status.ts";

Deno.test("signals have the names that the system gives them", { ignore: Deno.build.os !== "linux" }, () => {
  for (const [name, number] of Object.entries(constants.signals)) {
    // One number may have several names.
    if (constants.signals[signalName(number) as NodeJS.Signals] !== undefined) {
      assert.equal(constants.signals[signalName(number) as NodeJS.Signals], number, name);
    } else assert.fail(`${name} is called ${signalName(number)}`);
  }
  assert.deepEqual([1, 9, 15, 31].map(signalName), ["SIGHUP", "SIGKILL", "SIGTERM", "SIGSYS"]);
  assert.deepEqual([32, 33, 34, 36, 64].map(signalName), ["SIG32", "SIG33", "SIGRTMIN", "SIGRTMIN+2", "SIGRTMIN+30"]);
});

Deno.test("a wait status holds an exit code or a signal, with or without a core dump", () => {
  assert.deepEqual(readWaitStatus(0), { code: 0, signal: 0 });
  assert.deepEqual(readWaitStatus(3 << 8), { code: 3, signal: 0 });
  assert.deepEqual(readWaitStatus(255 << 8), { code: 255, signal: 0 });
  assert.deepEqual(readWaitStatus(9), { code: 0, signal: 9 });
  assert.deepEqual(readWaitStatus(6 | 0x80), { code: 0, signal: 6 });
});
