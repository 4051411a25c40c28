/** How much gets through, what it costs in memory, and what others notice of it. */
import { pause } from "../program/eventually.ts";
import { residentBytes } from "../program/proc.ts";
import { startParams } from "../program/process_watch.ts";
import { timesOfGuest } from "./guest.ts";
import { FloodCounter } from "./payload.ts";
import { Bed, type Plan, sides } from "./plan.ts";

/** A program and how many bytes arrive of what it writes. */
interface Flood {
  readonly argv: readonly [string, ...string[]];
  readonly tty: boolean;
  readonly bytes: number;
}

const MB = 1_000_000;
/** Before memory is read: what is freed has been freed by then, and the start is over. */
const SETTLE_MS = 500;

const PIPE_200MB: Flood = {
  argv: ["dd", "if=/dev/zero", "bs=64k", "iflag=count_bytes", "count=200000000", "status=none"],
  tty: false,
  bytes: 200 * MB,
};
/** Lines of 80 bytes, as programs write them to a terminal; it adds a carriage return to each. */
const TERMINAL_40MB: Flood = {
  argv: ["sh", "-c", `yes ${"0123456789".repeat(8).slice(0, 79)} | head -c 40000000`],
  tty: true,
  bytes: 40 * MB + 40 * MB / 80,
};
const SMALL_WRITES: Flood = {
  argv: ["dd", "if=/dev/zero", "bs=64", "count=312500", "status=none"],
  tty: false,
  bytes: 20 * MB,
};

const FLOOD_ROWS = [
  ...["pipe-200mb", "terminal-40mb", "small-writes", "memory-idle", "memory-after"] as const,
  ...["second-client-p50", "second-client-p90"] as const,
];

export async function measureThroughput(plan: Plan): Promise<void> {
  if (!FLOOD_ROWS.some((row) => plan.wants(row))) return;
  for (const carrier of plan.carriers) {
    for (let turn = 0; turn < plan.floods; turn++) {
      for (const [side, command] of sides(plan)) {
        plan.progress(`floods over ${carrier}, ${side}, ${turn + 1} of ${plan.floods}`);
        await using bed = await Bed.make(side, command, carrier);
        await measureFloods(plan, bed);
      }
    }
  }
}

async function measureFloods(plan: Plan, bed: Bed): Promise<void> {
  const memory = plan.wants("memory-idle") || plan.wants("memory-after");
  if (memory) await recordMemory(plan, bed, "memory-idle");
  if (memory || plan.wants("pipe-200mb")) await record(plan, bed, "pipe-200mb", PIPE_200MB);
  if (memory || plan.wants("terminal-40mb")) await record(plan, bed, "terminal-40mb", TERMINAL_40MB);
  if (memory) await recordMemory(plan, bed, "memory-after");
  if (plan.wants("small-writes")) await record(plan, bed, "small-writes", SMALL_WRITES);
  const second = plan.wants("second-client-p50") || plan.wants("second-client-p90");
  if (second && bed.carrier === "ws") await measureSecondClient(plan, bed);
}

async function record(plan: Plan, bed: Bed, row: "pipe-200mb" | "terminal-40mb" | "small-writes", flood: Flood) {
  plan.samples.add(row, bed.carrier, bed.side, await megabytesPerSecond(bed, flood));
}

async function recordMemory(plan: Plan, bed: Bed, row: "memory-idle" | "memory-after"): Promise<void> {
  await pause(SETTLE_MS);
  plan.samples.add(row, bed.carrier, bed.side, residentBytes(bed.server.pid) / MB);
}

/**
 * Runs a flood from the request to `process/closed`.
 *
 * @throws {Error} If more or fewer bytes arrive than were written.
 */
async function megabytesPerSecond(bed: Bed, { argv, tty, bytes }: Flood): Promise<number> {
  const id = bed.nextId();
  const counter = new FloodCounter(bed.client, id);
  const began = performance.now();
  await bed.client.request("process/start", startParams(id, { argv, tty }));
  await bed.whileAlive(counter.closed);
  const seconds = (performance.now() - began) / 1000;
  if (counter.bytes !== bytes) throw new Error(`${bed.side}: ${counter.bytes} bytes arrived of ${bytes}`);
  return bytes / MB / seconds;
}

async function measureSecondClient(plan: Plan, bed: Bed): Promise<void> {
  const times = await timesOfGuest(bed.server.url, async () => void await megabytesPerSecond(bed, PIPE_200MB));
  for (const ms of times) {
    plan.samples.add("second-client-p50", "ws", bed.side, ms);
    plan.samples.add("second-client-p90", "ws", bed.side, ms);
  }
}
