import assert from "node:assert/strict";
import { systemClock } from "../../../lib/clock.ts";
import { silentLog } from "../../../lib/log.ts";
import { portableBackend } from "../../../lib/process/portable/spawn.ts";
import { type ProcessEvents, ProcessTable } from "../../../lib/process/process_table.ts";
import { launchSpec } from "../../support/child_record.ts";

const never = new AbortController().signal;
const events: ProcessEvents = { output: () => true, exited: () => {}, closed: () => {} };
const options = { clock: systemClock, events, log: silentLog };
const unix = Deno.build.os !== "windows";

function spec(script: string) {
  return { ...launchSpec(["sh", "-c", script], { pipeStdin: true }), processId: "p" };
}

Deno.test({
  name: "a process of the portable back end can be started, written to and read to its end",
  ignore: !unix,
  async fn() {
    using backend = portableBackend({ log: silentLog });
    using table = new ProcessTable({ backend, ...options });
    await table.start(spec("read line; echo got $line; exit 3"));
    const chunk = new TextEncoder().encode("it\n");
    assert.equal(table.write({ processId: "p", chunk, writeId: "w" }, never), "accepted");
    let text = "";
    let closed = false;
    for (let afterSeq = 0; !closed;) {
      const result = await table.read({ processId: "p", afterSeq, maxBytes: null, waitMs: 60_000 }, never);
      for (const { bytes } of result.chunks) text += new TextDecoder().decode(bytes);
      afterSeq = result.nextSeq - 1;
      closed = result.closed;
      if (closed) assert.deepEqual([text, result.exitCode, result.nextSeq], ["got it\n", 3, 4]);
    }
    await backend.idle();
  },
});

Deno.test({
  name: "a start of the portable back end that is cancelled leaves no program behind",
  ignore: !unix,
  async fn() {
    using backend = portableBackend({ log: silentLog });
    using table = new ProcessTable({ backend, ...options });
    const marker = await Deno.makeTempFile();
    try {
      const starting = table.start(spec(`sleep 0.1; echo ran >'${marker}'`));
      assert.equal(table.terminate("p"), true);
      await assert.rejects(async () => await starting, { message: "process p start was cancelled" });
      // The next start comes after the cancelled one, so the wait for both of them covers it.
      await table.start(spec("sleep 0.3"));
      await backend.idle();
      assert.equal(await Deno.readTextFile(marker), "");
    } finally {
      await Deno.remove(marker);
    }
  },
});
