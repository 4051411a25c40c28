/** What the relay costs: handshakes, records, streams. */
import { residentBytes } from "../program/proc.ts";
import { startParams } from "../program/process_watch.ts";
import { pause } from "../program/eventually.ts";
import { outputBytes } from "./payload.ts";
import type { Plan } from "./plan.ts";
import { sides } from "./plan.ts";
import { measureNoise } from "./relay_noise.ts";
import { RelayBed } from "./relay_bed.ts";
import type { RelayPeer } from "./relay_peer.ts";
import { RELAY_ROWS } from "./relay_rows.ts";
import { Scratch } from "./scratch.ts";

const MB = 1_000_000;
const KB = 1_000;
const FLOOD_BYTES = 200 * MB;
/** Requests of one sample of the rows of records. */
const SMALL_REQUESTS = 2_000;
const LARGE_REQUESTS = 400;
const SMALL_IN_FLIGHT = 64;
const LARGE_IN_FLIGHT = 8;
/** As base64, with the rest of the message, these fill one record of 60 KiB, and do not begin another. */
const RECORD_CONTENT_BYTES = 45_900;
const STREAMS = 100;
const REQUESTS_PER_STREAM = 10;
/** Handshakes at once: fewer than the 32 validations that an executor allows. */
const OPENING_AT_ONCE = 16;
/** So often as many streams are opened and closed first: what a heap has grown by for handshakes is no stream's. */
const WARM_UP_ROUNDS = 4;
/** Before memory is read: what is freed has been freed by then. */
const SETTLE_MS = 1_000;

export async function measureRelay(plan: Plan): Promise<void> {
  if (!plan.relay || !RELAY_ROWS.some(({ id }) => plan.wants(id))) return;
  await measureNoise(plan);
  if (!RELAY_ROWS.some(({ id }) => !id.startsWith("relay-noise") && plan.wants(id))) return;
  for (let turn = 0; turn < plan.floods; turn++) {
    for (const [side, command] of sides(plan)) {
      plan.progress(`relay, ${side}, ${turn + 1} of ${plan.floods}`);
      await using bed = await RelayBed.make(side, command);
      await measureOpening(plan, bed);
      await measureRecords(plan, bed);
      await measureStreams(plan, bed);
    }
  }
}

async function measureOpening(plan: Plan, bed: RelayBed): Promise<void> {
  if (!plan.wants("relay-open")) return;
  for (let sample = -1; sample < plan.samplesPerTurn; sample++) { // sample -1 warms up
    const began = performance.now();
    await using _peer = await bed.open();
    if (sample >= 0) plan.samples.add("relay-open", "relay", bed.side, performance.now() - began);
  }
}

async function measureRecords(plan: Plan, bed: RelayBed): Promise<void> {
  await using peer = await bed.open();
  await peer.initialize();
  const add = (row: Parameters<Plan["samples"]["add"]>[0], value: number) => {
    if (plan.wants(row)) plan.samples.add(row, "relay", bed.side, value);
  };
  if (plan.wants("relay-status")) {
    for (let sample = 0; sample < plan.samplesPerTurn; sample++) {
      const began = performance.now();
      await peer.request("environment/status");
      add("relay-status", performance.now() - began);
    }
  }
  if (plan.wants("relay-small")) add("relay-small", await smallRecords(bed, peer));
  if (plan.wants("relay-up")) add("relay-up", await recordsUp(bed, peer));
  if (plan.wants("relay-down")) add("relay-down", await recordsDown(peer));
  if (plan.wants("relay-200mb")) add("relay-200mb", await flood(bed, peer));
}

/** Both the question and the answer have about 200 bytes. */
async function smallRecords(bed: RelayBed, peer: RelayPeer): Promise<number> {
  const processId = bed.nextId().padEnd(120, "-");
  await peer.request("process/start", startParams(processId, { argv: ["true"] }));
  const tail = `,"method":"process/read","params":${
    JSON.stringify({ processId, afterSeq: 0, maxBytes: 1, waitMs: 0 })
  }}`;
  return await perSecond(SMALL_REQUESTS, SMALL_IN_FLIGHT, () => peer.requestText((id) => `{"id":${id}${tail}`));
}

async function recordsUp(bed: RelayBed, peer: RelayPeer): Promise<number> {
  const processId = bed.nextId();
  const argv = ["sh", "-c", "exec cat > /dev/null"] as const;
  await peer.request("process/start", startParams(processId, { argv: [...argv], pipeStdin: true }));
  const chunk = new Uint8Array(RECORD_CONTENT_BYTES).toBase64();
  let writes = 0;
  const figure = await perSecond(LARGE_REQUESTS, LARGE_IN_FLIGHT, () => {
    const params = `{"processId":"${processId}","chunk":"${chunk}","writeId":"${++writes}"}`;
    return peer.requestText((id) => `{"id":${id},"method":"process/write","params":${params}}`);
  });
  await peer.request("process/terminate", { processId });
  return figure;
}

async function recordsDown(peer: RelayPeer): Promise<number> {
  await using scratch = await Scratch.make();
  await Deno.writeFile(scratch.path("record"), new Uint8Array(RECORD_CONTENT_BYTES));
  const params = JSON.stringify({ path: scratch.uri("record") });
  return await perSecond(LARGE_REQUESTS, LARGE_IN_FLIGHT, () => {
    return peer.requestText((id) => `{"id":${id},"method":"fs/readFile","params":${params}}`);
  });
}

async function perSecond(count: number, inFlight: number, request: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  let left = count;
  const work = async () => {
    while (left-- > 0) await request();
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  return count / (performance.now() - began) * 1000;
}

async function flood(bed: RelayBed, peer: RelayPeer): Promise<number> {
  const id = bed.nextId();
  const closed = Promise.withResolvers<void>();
  let bytes = 0;
  peer.tap = (message) => {
    const count = outputBytes(message);
    bytes += count ?? 0;
    return count !== null;
  };
  peer.onNotification = ({ method, params }) => {
    if (method === "process/output") bytes += Uint8Array.fromBase64(params.chunk).length;
    if (method === "process/closed" && params.processId === id) closed.resolve();
  };
  const count = `count=${FLOOD_BYTES}`;
  const argv = ["dd", "if=/dev/zero", "bs=64k", "iflag=count_bytes", count, "status=none"] as const;
  const began = performance.now();
  await peer.request("process/start", startParams(id, { argv: [...argv] }));
  await closed.promise;
  const seconds = (performance.now() - began) / 1000;
  peer.tap = null;
  if (bytes !== FLOOD_BYTES) throw new Error(`${bed.side}: ${bytes} bytes arrived of ${FLOOD_BYTES}`);
  return FLOOD_BYTES / MB / seconds;
}

async function measureStreams(plan: Plan, bed: RelayBed): Promise<void> {
  if (!plan.wants("relay-100-streams") && !plan.wants("relay-stream-memory")) return;
  for (let warmUp = 0; warmUp < WARM_UP_ROUNDS; warmUp++) {
    await using first = new AsyncDisposableStack();
    await openStreams(bed, first);
  }
  await using peers = new AsyncDisposableStack();
  await pause(SETTLE_MS);
  const before = residentBytes(bed.executor.pid);
  const streams = await openStreams(bed, peers);
  await pause(SETTLE_MS);
  const idle = (residentBytes(bed.executor.pid) - before) / STREAMS / KB;
  if (plan.wants("relay-stream-memory")) plan.samples.add("relay-stream-memory", "relay", bed.side, idle);
  if (!plan.wants("relay-100-streams")) return;
  const began = performance.now();
  await Promise.all(streams.flatMap((peer) => {
    return Array.from({ length: REQUESTS_PER_STREAM }, () => peer.request("environment/status"));
  }));
  plan.samples.add("relay-100-streams", "relay", bed.side, performance.now() - began);
}

/** A hundred streams with sessions, which end with `peers`. */
async function openStreams(bed: RelayBed, peers: AsyncDisposableStack): Promise<RelayPeer[]> {
  const streams: RelayPeer[] = [];
  let left = STREAMS;
  const work = async () => {
    while (left-- > 0) {
      const peer = peers.use(await bed.open());
      await peer.initialize();
      streams.push(peer);
    }
  };
  await Promise.all(Array.from({ length: OPENING_AT_ONCE }, work));
  return streams;
}
