import { pause } from "./eventually.ts";

/** How often a program's peak is looked at; the kernel keeps it, so only what comes just before the end is missed. */
const INTERVAL_MS = 20;

/** The most resident memory that a process had, in bytes, looked at until `ended` resolves. */
export async function peakMemory(pid: number, ended: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = ended.then(() => void (isOver = true));
  let peak = 0;
  while (!isOver) {
    peak = Math.max(peak, peakNow(pid));
    await Promise.race([over, pause(INTERVAL_MS)]);
  }
  return peak;
}

/** 0: it has ended. */
function peakNow(pid: number): number {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1];
    return Number(kilobytes ?? 0) * 1024;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || /os error 3\b/.test(String(error))) return 0;
    throw error;
  }
}
