/** What a proxy does to the connections of one run: chance that can be repeated. */
import type { Random } from "../../program/random.ts";
import type { Admission, Fate, Fault } from "../support/tcp_proxy.ts";

/** After so many faults and refusals, or fewer, the network is a good one, so that every run has an end. */
export const MAX_TROUBLES = 14;
/** Faults come after so many bytes or fewer: the smallest are within the upgrade, the largest within a long output. */
const MAX_BYTES = 400_000;

/** The fates of the connections of one run, in their order. */
export function troubles(random: Random): (index: number) => Admission {
  let left = 1 + random.below(MAX_TROUBLES);
  return () => {
    if (left <= 0) return [];
    left--;
    const kind = random.below(12);
    if (kind === 0) return "refuse";
    if (kind === 1) return { silentMs: random.below(150) };
    const fates = Array.from({ length: 1 + random.below(3) }, () => fate(random));
    left -= fates.length - 1;
    return fates;
  };
}

function fate(random: Random): Fate {
  const direction = random.below(3) === 0 ? "toServer" : "toClient";
  // Half of them early, where messages are short.
  const afterBytes = random.below(2) === 0 ? random.below(3_000) : random.below(MAX_BYTES);
  return { direction, afterBytes, fault: fault(random) };
}

function fault(random: Random): Fault {
  switch (random.below(8)) {
    case 0:
      return { kind: "stall", ms: random.below(200) };
    case 1:
      return { kind: "trickle", bytes: random.below(600) };
    case 2:
    case 3:
      return { kind: "halfClose", ms: random.below(80) };
    case 4:
    case 5:
      return { kind: "halfOpen", ms: random.below(300) };
    default:
      return { kind: "cut" };
  }
}
