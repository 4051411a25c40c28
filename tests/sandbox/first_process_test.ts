import assert from "node:assert/strict";
import * as libc from "../../lib/linux/libc.ts";
import { FirstProcess } from "../../lib/sandbox/first_process.ts";
import { ManualClock } from "../support/manual_clock.ts";

const ignore = Deno.build.os !== "linux";

function reporting(text: string): FirstProcess {
  const first = new FirstProcess();
  libc.write(first.report, new TextEncoder().encode(text));
  libc.close(first.report);
  return first;
}

Deno.test({
  name: "FirstProcess has gone when its number is nobody's, or somebody's who is no first process",
  ignore,
  fn: () => {
    for (const pid of [2 ** 22 + 1, Deno.pid]) {
      using first = reporting(`{\n    "child-pid": ${pid},\n    "pid-namespace": 1\n}`);
      assert.equal(first.look(), "gone");
    }
  },
});

Deno.test({
  name:
    "FirstProcess is waited for two seconds where it has not said which one it is, and not where nothing was started",
  ignore,
  fn: async () => {
    using silent = reporting("");
    const clock = new ManualClock();
    let isOver = false;
    const ended = silent.ended(clock, true).then(() => isOver = true);
    while (clock.now() < 2_000) {
      await Promise.resolve();
      assert.equal(isOver, false);
      clock.advance(Math.min(100, 2_000 - clock.now()));
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    clock.advance(300);
    await ended;
    await silent.ended(new ManualClock(), false);
  },
});
