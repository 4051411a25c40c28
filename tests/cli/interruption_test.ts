import assert from "node:assert/strict";
import { interruption } from "../../lib/cli/interruption.ts";
import { FakeCli } from "./fake_cli.ts";

Deno.test("the first signal interrupts, with the exit code that a shell expects", () => {
  for (const [name, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
    const cli = new FakeCli();
    {
      using interrupted = interruption(cli);
      assert.equal(interrupted.signal.aborted, false);
      cli.signal(name);
      assert.equal(cli.signal("SIGINT"), false, "the next one does what it does by default");
      assert.deepEqual([interrupted.signal.reason.name, interrupted.signal.reason.code], ["InterruptedError", code]);
    }
    assert.equal(cli.signal(name), false, "nobody listens after the scope");
  }
});
