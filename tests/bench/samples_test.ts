import assert from "node:assert/strict";
import { meets, type Row, ROWS } from "./rows.ts";
import { quantile, Samples } from "./samples.ts";

Deno.test("quantile finds the value between its neighbours, in any order", () => {
  assert.equal(quantile([], 0.5), null);
  assert.equal(quantile([7], 0.9), 7);
  assert.equal(quantile([3, 1, 2], 0.5), 2);
  assert.equal(quantile([4, 1, 2, 3], 0.5), 2.5);
  assert.equal(quantile(Array.from({ length: 11 }, (_, index) => index), 0.9), 9);
});

Deno.test("Samples compares the medians of both sides with the target of the carrier", () => {
  const samples = new Samples();
  for (const value of [9, 1, 2]) samples.add("connect", "ws", "ours", value);
  for (const value of [2, 2, 2]) samples.add("connect", "ws", "reference", value);
  const [line, ...others] = samples.lines();
  assert.deepEqual(others, []);
  assert.deepEqual([line?.value, line?.ratio, line?.target, line?.met], [{ ours: 2, reference: 2 }, 1, 1.1, true]);
});

Deno.test("Samples has no verdict without a reference, nor without a target", () => {
  const samples = new Samples();
  samples.add("connect", "ws", "ours", 1);
  samples.add("start-closed", "ws", "ours", 1);
  samples.add("start-closed", "ws", "reference", 1);
  assert.deepEqual(samples.lines().map(({ ratio, met }) => [ratio, met]), [[null, null], [1, null]]);
});

Deno.test("Samples judges our own figure where the row has a limit of its own, whatever the reference does", () => {
  for (const [megabytes, met] of [[399, true], [401, false]] as const) {
    const samples = new Samples();
    samples.add("memory-read-100mb", "ws", "ours", megabytes);
    samples.add("memory-read-100mb", "ws", "reference", 10_000);
    assert.deepEqual(samples.lines().map((line) => [line.limit, line.target, line.met]), [[400, null, met]]);
  }
});

Deno.test("a target is an upper bound for times and memory and a lower one for throughput", () => {
  const row = (unit: Row["unit"]) => ROWS.find((each) => each.unit === unit)!;
  assert.deepEqual([meets(row("ms"), 0.9, 1), meets(row("ms"), 1.1, 1)], [true, false]);
  assert.deepEqual([meets(row("MB"), 0.9, 1), meets(row("MB"), 1.1, 1)], [true, false]);
  assert.deepEqual([meets(row("MB/s"), 0.9, 1), meets(row("MB/s"), 1.1, 1)], [false, true]);
});
