import assert from "node:assert/strict";
import { registryPauseMs } from "../../lib/client/registry_pause.ts";

Deno.test("the pauses over a registry double from 500 ms to 5 s, and are up to half of that longer", () => {
  for (const [attempt, base] of [500, 1000, 2000, 4000, 5000, 5000, 5000].entries()) {
    for (let key = 0; key < 200; key++) {
      const ms = registryPauseMs(`session-${key}`, attempt);
      assert.ok(ms >= base && ms <= base * 1.5 && Number.isInteger(ms), `${ms} after attempt ${attempt}`);
    }
  }
});

Deno.test("the pauses of one session are the same each time, and those of many spread over the half", () => {
  assert.equal(registryPauseMs("session", 3), registryPauseMs("session", 3));
  const pauses = Array.from({ length: 1000 }, (_, key) => registryPauseMs(`session-${key}`, 0));
  const inEachTenth = Array.from(
    { length: 10 },
    (_, tenth) => pauses.filter((ms) => Math.min(9, Math.floor((ms - 500) / 25)) === tenth).length,
  );
  assert.ok(inEachTenth.every((count) => count > 50 && count < 200), inEachTenth.join(" "));
});

Deno.test("an attempt that nobody will live to see has a pause as well", () => {
  assert.ok(registryPauseMs("session", 5000) <= 7500);
});
