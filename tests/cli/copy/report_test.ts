import assert from "node:assert/strict";
import { CopyReport } from "../../../lib/cli/copy/report.ts";

Deno.test("a report names what was not copied, each reason once, and counts what it does not name", () => {
  const report = new CopyReport();
  assert.deepEqual([report.isComplete, report.sentences()], [true, []]);
  report.add("special", "fifo", "no pipes");
  report.note("times were not kept");
  report.note("times were not kept");
  report.add("changed", "log", "changed meanwhile");
  assert.equal(report.isComplete, true, "nothing is missing that could have been copied");
  for (let i = 1; i <= 12; i++) report.add("left out", `link${i}`, "no links");
  assert.equal(report.isComplete, false);
  assert.deepEqual(report.sentences(), [
    "left out: fifo: no pipes",
    "log: changed meanwhile",
    `left out: ${Array.from({ length: 10 }, (_, i) => `link${i + 1}`).join(", ")}, and 2 more: no links`,
    "times were not kept",
  ]);
});

Deno.test("complaints make a copy incomplete, and a flood of them is cut", () => {
  const report = new CopyReport();
  report.complain(Array.from({ length: 50 }, (_, i) => `tar: ${i}`));
  assert.equal(report.isComplete, false);
  assert.equal(report.sentences().length, 10);
});
