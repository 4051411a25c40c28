import type { Steps } from "./steps.ts";

/** Sorted at once: half a millisecond. */
const RUN_LENGTH = 1024;

/** Sorts without keeping others waiting, however many there are: short runs, which are then merged. */
export function* sorted<T>(items: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += RUN_LENGTH) {
    runs.push(items.slice(at, at + RUN_LENGTH).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const left = runs[at]!, right = runs[at + 1];
      merged.push(right === undefined ? left : yield* merge(left, right, compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<T>(left: readonly T[], right: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  const merged: T[] = [];
  let l = 0, r = 0;
  while (l < left.length && r < right.length) {
    merged.push(compare(left[l]!, right[r]!) <= 0 ? left[l++]! : right[r++]!);
    if (merged.length % RUN_LENGTH === 0) yield;
  }
  while (l < left.length) merged.push(left[l++]!);
  while (r < right.length) merged.push(right[r++]!);
  return merged;
}

const FIRST_SURROGATE = 0xd800, LAST_SURROGATE = 0xdfff;

/** Compares texts as their UTF-8 bytes compare. JavaScript's order differs once there is something beyond U+FFFF. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at), right = b.charCodeAt(at);
    if (left !== right) return utf8Rank(left) - utf8Rank(right);
  }
  return a.length - b.length;
}

/** Surrogates stand for what comes after all other characters. */
function utf8Rank(unit: number): number {
  return unit >= FIRST_SURROGATE && unit <= LAST_SURROGATE ? unit + 0x10000 : unit;
}
