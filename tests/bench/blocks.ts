/** Big files by blocks: how much gets through when one request waits for the other, and when two are under way. */
import type { WireClient } from "../support/wire_client.ts";
import { base64Bytes } from "./payload.ts";
import { Bed, type Plan, sides } from "./plan.ts";
import { Scratch } from "./scratch.ts";

/** The most that one request may carry. */
const BLOCK_BYTES = 1_048_576;
const MB = 1_000_000;
const BLOCK_ROWS = ["read-blocks-1", "read-blocks-2", "write-blocks-1", "write-blocks-2"] as const;

export async function measureBlocks(plan: Plan): Promise<void> {
  if (!BLOCK_ROWS.some((row) => plan.wants(row))) return;
  await using scratch = await Scratch.make();
  const { bigBytes, turns } = plan.files;
  // What is read, what is written, and something to spare.
  if (!scratch.hasRoom(2.5 * bigBytes, "the files by blocks", plan.progress)) return;
  await fill(scratch.path("big"), bigBytes);
  for (const carrier of plan.carriers) {
    for (let turn = 0; turn < turns; turn++) {
      for (const [side, command] of sides(plan)) {
        plan.progress(`files by blocks over ${carrier}, ${side}, ${turn + 1} of ${turns}`);
        await using bed = await Bed.make(side, command, carrier);
        for (const inFlight of [1, 2] as const) {
          const [reads, writes] = [`read-blocks-${inFlight}`, `write-blocks-${inFlight}`] as const;
          if (plan.wants(reads)) {
            const seconds = await readBlocks(bed.client, scratch.uri("big"), bigBytes, inFlight);
            plan.samples.add(reads, carrier, side, bigBytes / MB / seconds);
          }
          if (plan.wants(writes)) {
            const seconds = await writeBlocks(bed.client, scratch, bigBytes, inFlight);
            plan.samples.add(writes, carrier, side, bigBytes / MB / seconds);
          }
        }
      }
    }
  }
}

/** Seconds from the first request to the last answer. */
async function readBlocks(client: WireClient, path: string, bytes: number, inFlight: number): Promise<number> {
  const handleId = "bench";
  await client.request("fs/open", { handleId, path, mode: "read" });
  let read = 0;
  const seconds = await eachBlock(bytes, inFlight, async (offset, len) => {
    const { chunk } = await client.request<{ chunk: string }>("fs/readBlock", { handleId, offset, len });
    read += base64Bytes(chunk) ?? 0;
  });
  await client.request("fs/close", { handleId });
  if (read !== bytes) throw new Error(`${read} bytes read of ${bytes}`);
  return seconds;
}

/** The same for a new file, which is removed afterwards. */
async function writeBlocks(client: WireClient, scratch: Scratch, bytes: number, inFlight: number): Promise<number> {
  const handleId = "bench";
  await client.request("fs/open", { handleId, path: scratch.uri("written"), mode: "replace" });
  const seconds = await eachBlock(bytes, inFlight, async (offset, length) => {
    const chunk = length === BLOCK_BYTES ? WHOLE_BLOCK : new Uint8Array(length).toBase64();
    await client.request("fs/writeBlock", { handleId, offset, chunk });
  });
  await client.request("fs/close", { handleId });
  const { size } = await Deno.stat(scratch.path("written"));
  await Deno.remove(scratch.path("written"));
  if (size !== bytes) throw new Error(`${size} bytes written of ${bytes}`);
  return seconds;
}

async function eachBlock(
  bytes: number,
  inFlight: number,
  transfer: (offset: number, length: number) => Promise<void>,
): Promise<number> {
  let next = 0;
  const lane = async () => {
    while (next < bytes) {
      const offset = next;
      next += BLOCK_BYTES;
      await transfer(offset, Math.min(BLOCK_BYTES, bytes - offset));
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: inFlight }, lane));
  return (performance.now() - began) / 1000;
}

/** No file of holes: all of it is written. */
async function fill(path: string, bytes: number): Promise<void> {
  using file = await Deno.open(path, { createNew: true, write: true });
  const block = new Uint8Array(BLOCK_BYTES).fill(97);
  for (let rest = bytes; rest > 0;) rest -= await file.write(block.subarray(0, Math.min(rest, block.length)));
}

const WHOLE_BLOCK = new Uint8Array(BLOCK_BYTES).fill(98).toBase64();
