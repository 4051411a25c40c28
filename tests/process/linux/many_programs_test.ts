import assert from "node:assert/strict";
import { Bench, leftOpen, openDescriptors, ownChildren } from "../../support/linux.ts";

/** Programs of each kind. */
const COUNT = 500;
/** How many run at once. */
const AT_ONCE = 4;

for (const tty of [false, true]) {
  Deno.test(`${COUNT} fast programs lose no byte and leave nothing, ${tty ? "on terminals" : "on pipes"}`, async () => {
    const descriptors = openDescriptors();
    const children = ownChildren();
    {
      await using bench = new Bench();
      let next = 0;
      const worker = async (): Promise<void> => {
        while (next < COUNT) {
          const number = next++;
          // 5000 bytes are more than a terminal hands over at once; the last ones come directly before the end.
          const script = `stty -opost 2>/dev/null; printf '%05000d' ${number}; exit ${number % 256}`;
          const events = await bench.run(script, { tty });
          const output = `${tty ? "pty" : "stdout"}:${String(number).padStart(5000, "0")}`;
          assert.deepEqual(events, [output, `exited ${number % 256}`, "closed"]);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
    }
    assert.deepEqual(leftOpen(descriptors), []);
    assert.deepEqual(ownChildren(), children);
  });
}

Deno.test("programs that cannot be started leave nothing", async () => {
  const descriptors = openDescriptors();
  const children = ownChildren();
  {
    await using bench = new Bench();
    for (let turn = 0; turn < 20; turn++) {
      for (const tty of [false, true]) {
        for (const argv of [["/no/such"], ["/"], ["nosuch"], ["./nosuch"], ["a\0"]]) {
          assert.throws(() => bench.launch(argv, { tty, pipeStdin: true }));
        }
      }
    }
  }
  assert.deepEqual(leftOpen(descriptors), []);
  assert.deepEqual(ownChildren(), children);
});
