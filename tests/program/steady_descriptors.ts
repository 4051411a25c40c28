import assert from "node:assert/strict";
import { eventually } from "./eventually.ts";
import { descriptors } from "./proc.ts";

/** A `process/closed` may be told shortly before the last descriptor is given back. */
const STEADY_MS = 300;

/**
 * What a process holds, by kind, once it has stopped opening and closing things.
 *
 * (Let it run only programs without children before: of a group that was killed together with its leader's children a
 * server may hold a descriptor until process 1 has taken their exit status, which can be seconds.)
 */
export async function steadyDescriptors(pid: number): Promise<Record<string, number>> {
  let held = "";
  let since = performance.now();
  await eventually("the server's descriptors stay the same", () => {
    const now = JSON.stringify(descriptors(pid));
    if (now !== held) [held, since] = [now, performance.now()];
    assert.ok(performance.now() - since >= STEADY_MS, now);
  });
  return JSON.parse(held);
}
