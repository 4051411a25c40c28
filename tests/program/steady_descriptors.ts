import assert from "node:assert/strict";
import { eventually } from "./eventually.ts";
import { descriptors } from "./proc.ts";

/**
 * A server that kills a group looks after a second at the latest whether somebody is left in it, and holds a descriptor
 * for that until then; what stays the same for longer stays.
 */
const STEADY_MS = 1_500;

/** What a process holds, by kind, once it has stopped opening and closing things. */
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
