import assert from "node:assert/strict";
import { ManualClock } from "../support/manual_clock.ts";
import { canUnshare, Inner, reporting } from "./support/inner.ts";

const ignore = Deno.build.os !== "linux";

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
  name: "FirstProcess is killed with all that is left of its sandbox",
  ignore: ignore || !canUnshare(),
  fn: async () => {
    await using inner = new Inner();
    using first = await inner.reported();
    assert.equal(first.look(), "alive");
    first.kill();
    assert.equal((await inner.outerEnded).success, false);
    assert.equal(first.look(), "gone");
    first.kill();
  },
});

Deno.test({
  name: "FirstProcess kills nobody who is not the first of a sandbox",
  ignore,
  fn: async () => {
    const stranger = new Deno.Command("sleep", { args: ["600"] }).spawn();
    using first = reporting(`${stranger.pid}\n`);
    first.kill();
    using unknown = reporting("");
    unknown.kill();
    stranger.kill("SIGTERM");
    assert.equal((await stranger.status).signal, "SIGTERM");
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
