import type { SignalName } from "./signal_name.ts";

/**
 * The one place that sends signals. A process group is a number that somebody else could have: 0 is "my own group", 1
 * is init's and -1 "everybody", so those and our own group are refused whatever a caller may have computed.
 */

/**
 * Sends a signal to every process of a group.
 *
 * @returns false when the group has no member (any more).
 * @throws {RangeError} If the group is not one that can be signalled.
 * @throws {Deno.errors.PermissionDenied} If not even one of its processes may be signalled.
 */
export function signalGroup(group: number, signal: SignalName): boolean {
  if (!Number.isSafeInteger(group) || group <= 1) throw new RangeError(`refusing to signal process group ${group}`);
  if (ownGroups().has(group)) throw new RangeError(`refusing to signal process group ${group}: it is our own`);
  try {
    Deno.kill(-group, signal);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

let known: ReadonlySet<number> | undefined;

/**
 * Our process group. Linux tells it; elsewhere it is one of two numbers, both of which are then refused: our own id
 * (if we lead a group) or our parent's (if a shell without job control started us).
 */
function ownGroups(): ReadonlySet<number> {
  if (known === undefined) {
    const group = Deno.build.os === "linux" ? groupFromProc() : undefined;
    known = new Set(group === undefined ? [Deno.pid, Deno.ppid] : [group]);
  }
  return known;
}

/** The fifth field of /proc/self/stat; the second may contain anything, so count from its closing parenthesis. */
function groupFromProc(): number | undefined {
  let stat: string;
  try {
    stat = Deno.readTextFileSync("/proc/self/stat");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined; // no /proc in this container
    throw error;
  }
  const group = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
  return Number.isInteger(group) ? group : undefined;
}
