/** What a client waits for when it reads and writes whole files. */
import type { WireClient } from "../support/wire_client.ts";
import { base64Bytes } from "./payload.ts";
import { Bed, type Plan, sides } from "./plan.ts";
import type { RowId } from "./rows.ts";
import { Scratch } from "./scratch.ts";

const KB = 1_000;
const MB = 1_000_000;
const READS_IN_FLIGHT = 200;
const FILE_LATENCY_ROWS = ["read-1kb", "read-1mb", "read-200", "write-1mb"] as const;

export async function measureFileLatency(plan: Plan): Promise<void> {
  if (!FILE_LATENCY_ROWS.some((row) => plan.wants(row))) return;
  await using scratch = await Scratch.make();
  await Deno.writeFile(scratch.path("1kb"), new Uint8Array(KB).fill(97));
  await Deno.writeFile(scratch.path("1mb"), new Uint8Array(MB).fill(97));
  for (const carrier of plan.carriers) {
    plan.progress(`files over ${carrier}`);
    await using stack = new AsyncDisposableStack();
    const beds: Bed[] = [];
    for (const [side, command] of sides(plan)) beds.push(stack.use(await Bed.make(side, command, carrier)));
    for (let turn = -1; turn < plan.turns; turn++) { // turn -1 warms up
      for (const bed of beds) {
        for (let sample = 0; sample < plan.samplesPerTurn; sample++) {
          const figures = await measure(plan, bed, scratch);
          if (turn < 0) continue;
          for (const [row, value] of figures) plan.samples.add(row, carrier, bed.side, value);
        }
      }
    }
  }
}

/** One sample of each row that was asked for. */
async function measure(plan: Plan, bed: Bed, scratch: Scratch): Promise<[RowId, number][]> {
  const { client } = bed;
  const figures: [RowId, number][] = [];
  const add = async (row: RowId, work: () => Promise<unknown>, times = 1) => {
    if (!plan.wants(row)) return;
    const began = performance.now();
    await work();
    figures.push([row, (performance.now() - began) / times]);
  };
  await add("read-1kb", () => readFile(client, scratch.uri("1kb"), KB));
  await add("read-1mb", () => readFile(client, scratch.uri("1mb"), MB));
  const reads = () => Array.from({ length: READS_IN_FLIGHT }, () => readFile(client, scratch.uri("1kb"), KB));
  await add("read-200", () => Promise.all(reads()), READS_IN_FLIGHT);
  const write = { path: scratch.uri(`written by ${bed.side}`), dataBase64: ONE_MB_BASE64 };
  await add("write-1mb", () => client.request("fs/writeFile", write));
  return figures;
}

async function readFile(client: WireClient, path: string, bytes: number): Promise<void> {
  const { dataBase64 } = await client.request<{ dataBase64: string }>("fs/readFile", { path });
  if (base64Bytes(dataBase64) !== bytes) throw new Error(`${bytes} bytes read as ${dataBase64.length} characters`);
}

const ONE_MB_BASE64 = new Uint8Array(MB).fill(98).toBase64();
