import assert from "node:assert/strict";
import { durationFlaw, parseDuration } from "../../lib/cli/duration.ts";

Deno.test("parseDuration() reads numbers with units, and sums of them", () => {
  const cases: [string, number][] = [
    ["500ms", 500],
    ["30s", 30_000],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["1d", 86_400_000],
    ["1.5h", 5_400_000],
    ["0.25s", 250],
    ["1h30m", 5_400_000],
    ["1m1ms", 60_001],
  ];
  for (const [text, ms] of cases) assert.equal(parseDuration(text), ms, text);
});

Deno.test("parseDuration() takes nothing else", () => {
  for (
    const text of ["", "30", "s", "-1s", "+1s", "1 s", "1S", "1e3s", "1.s", ".5s", "0s", "0.1ms", "9999999999d", "1w"]
  ) {
    assert.equal(parseDuration(text), undefined, text);
    assert.match(durationFlaw(text) ?? "", /a number with a unit is expected/);
  }
  for (const text of ["1s", "365000d"]) assert.equal(durationFlaw(text), undefined);
  assert.match(durationFlaw("365000d1ms") ?? "", /at most 365000d/);
});
