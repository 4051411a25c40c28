/** What a big file costs in memory. */
import { base64Bytes } from "./payload.ts";
import { Bed, type Plan, sides } from "./plan.ts";
import { Scratch } from "./scratch.ts";

const MB = 1_000_000;
const FILE_BYTES = 100 * MB;

/** One server for each figure: it is the peak of its life. */
export async function measureFileMemory(plan: Plan): Promise<void> {
  if (!plan.wants("memory-read-100mb")) return;
  await using scratch = await Scratch.make();
  if (!scratch.hasRoom(1.5 * FILE_BYTES, "the file of 100 MB", plan.progress)) return;
  await Deno.writeFile(scratch.path("big"), new Uint8Array(FILE_BYTES).fill(97));
  for (const carrier of plan.carriers) {
    for (let turn = 0; turn < plan.files.turns; turn++) {
      for (const [side, command] of sides(plan)) {
        plan.progress(`100 MB read at once over ${carrier}, ${side}, ${turn + 1} of ${plan.files.turns}`);
        await using bed = await Bed.make(side, command, carrier);
        const path = scratch.uri("big");
        const { dataBase64 } = await bed.client.request<{ dataBase64: string }>("fs/readFile", { path });
        if (base64Bytes(dataBase64) !== FILE_BYTES) throw new Error(`${side}: not the whole file was read`);
        plan.samples.add("memory-read-100mb", carrier, side, peakBytes(bed.server.pid) / MB);
      }
    }
  }
}

/** The most resident memory that a process has had. */
function peakBytes(pid: number): number {
  const kibibytes = Deno.readTextFileSync(`/proc/${pid}/status`).match(/^VmHWM:\s+(\d+) kB$/m)?.[1];
  if (kibibytes === undefined) throw new Error(`/proc/${pid}/status has no VmHWM`);
  return Number(kibibytes) * 1024;
}
