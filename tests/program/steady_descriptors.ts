import assert from "node:assert/strict";
import { eventually } from "./eventually.ts";
import { descriptors } from "./proc.ts";

/** Looks in a row that must agree. */
const LOOKS = 10;

/** What a process holds, by kind, once it has stopped opening and closing things. */
export async function steadyDescriptors(pid: number): Promise<Record<string, number>> {
  let held = descriptors(pid);
  let agreeing = 0;
  await eventually("the server's descriptors stay the same", () => {
    const now = descriptors(pid);
    agreeing = JSON.stringify(now) === JSON.stringify(held) ? agreeing + 1 : 0;
    held = now;
    assert.ok(agreeing >= LOOKS, JSON.stringify(now));
  });
  return held;
}
