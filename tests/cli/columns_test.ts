import assert from "node:assert/strict";
import { columns } from "../../lib/cli/columns.ts";
import { localTime } from "../../lib/cli/local_time.ts";
import { signalName } from "../../lib/cli/signal_name.ts";

Deno.test("columns are as wide as their widest cell, and lines have no blanks at the end", () => {
  assert.deepEqual(columns([["ID", "STATE", "X"], ["a", "running", ""], ["äöü", "b", "c"]]), [
    "ID   STATE    X",
    "a    running",
    "äöü  b        c",
  ]);
  assert.deepEqual(columns([]), []);
});

Deno.test("a time is shown to the minute, and no time at all as blanks", () => {
  assert.equal(localTime(new Date(2026, 0, 2, 3, 4, 59)), "2026-01-02 03:04");
  assert.equal(localTime(undefined), " ".repeat(16));
});

Deno.test("signals have a name in any case, with or without SIG, and numbers are none", () => {
  assert.deepEqual(["term", "SIGTERM", "Usr1", "sigusr2"].map(signalName), [
    "SIGTERM",
    "SIGTERM",
    "SIGUSR1",
    "SIGUSR2",
  ]);
  assert.deepEqual(["", "9", "SIG", "x y", "TERM;"].map(signalName), Array(5).fill(undefined));
});
