/** What a client waits for: connecting, the handshake, a program's start and end, an echo. */
import { pause } from "../program/eventually.ts";
import { startParams } from "../program/process_watch.ts";
import { RunningServer } from "../program/running_server.ts";
import { type Members, WireClient } from "../support/wire_client.ts";
import { Bed, type Plan, sides } from "./plan.ts";
import type { LocalCarrier, RowId } from "./rows.ts";

/** How many programs are started without waiting for the first answer. */
const STARTS_AT_ONCE = 16;
/** For what the end of connections leaves to be done. */
const SETTLE_MS = 50;
const LATENCY_ROWS = ["start-response", "start-closed", "start-16", "echo-pipe", "echo-terminal"] as const;

export async function measureLatency(plan: Plan): Promise<void> {
  for (const carrier of plan.carriers) {
    if (carrier === "ws") await measureConnections(plan);
    else await measureStdioInitialize(plan);
    if (LATENCY_ROWS.some((row) => plan.wants(row))) await measurePrograms(plan, carrier);
  }
}

async function measureConnections(plan: Plan): Promise<void> {
  if (!plan.wants("connect") && !plan.wants("initialize") && !plan.wants("first-answer")) return;
  plan.progress("connections");
  await using stack = new AsyncDisposableStack();
  const servers = new Map<string, RunningServer>();
  for (const [side, command] of sides(plan)) servers.set(side, stack.use(await RunningServer.start({ command })));
  for (let turn = -1; turn < plan.turns; turn++) { // turn -1 warms up
    for (const [side] of sides(plan)) {
      await using clients = new AsyncDisposableStack(); // they stay, so that no sample pays for another one's end
      for (let sample = 0; sample < plan.samplesPerTurn; sample++) {
        const began = performance.now();
        const client = clients.use(await WireClient.connect(servers.get(side)!.url));
        const connected = performance.now();
        await client.initialize();
        const initialized = performance.now();
        await client.request("environment/status");
        const answered = performance.now();
        if (turn < 0) continue;
        plan.samples.add("connect", "ws", side, connected - began);
        plan.samples.add("initialize", "ws", side, initialized - connected);
        plan.samples.add("first-answer", "ws", side, answered - initialized);
      }
    }
    await pause(SETTLE_MS);
  }
}

/** A stdio server has one conversation: each sample is a server of its own, awake before the clock starts. */
async function measureStdioInitialize(plan: Plan): Promise<void> {
  if (!plan.wants("initialize")) return;
  plan.progress("initialize over stdio");
  for (let turn = 0; turn < plan.launches; turn++) {
    for (const [side, command] of sides(plan)) {
      await using server = await RunningServer.start({ command, listen: "stdio" });
      await using client = await server.connect();
      await client.request("environment/status").catch(() => {}); // refused before the handshake: it is awake
      const began = performance.now();
      await client.initialize();
      plan.samples.add("initialize", "stdio", side, performance.now() - began);
    }
  }
}

async function measurePrograms(plan: Plan, carrier: LocalCarrier): Promise<void> {
  plan.progress(`programs over ${carrier}`);
  await using stack = new AsyncDisposableStack();
  const stations: Station[] = [];
  for (const [side, command] of sides(plan)) {
    const bed = stack.use(await Bed.make(side, command, carrier));
    stations.push(new Station(bed, await EchoProgram.start(bed, false), await EchoProgram.start(bed, true)));
  }
  for (let turn = -1; turn < plan.turns; turn++) { // turn -1 warms up
    for (const station of stations) {
      for (let sample = 0; sample < plan.samplesPerTurn; sample++) {
        const figures = await station.measure(plan);
        if (turn < 0) continue;
        for (const [row, value] of figures) plan.samples.add(row, carrier, station.bed.side, value);
      }
    }
  }
}

class Station {
  constructor(readonly bed: Bed, readonly pipe: EchoProgram, readonly terminal: EchoProgram) {}

  /** One sample of each row that was asked for. */
  async measure(plan: Plan): Promise<[RowId, number][]> {
    const figures: [RowId, number][] = [];
    if (plan.wants("start-response") || plan.wants("start-closed")) {
      const { response, closed } = await startPrograms(this.bed, 1);
      figures.push(["start-response", response], ["start-closed", closed]);
    }
    if (plan.wants("start-16")) {
      figures.push(["start-16", (await startPrograms(this.bed, STARTS_AT_ONCE)).closed / STARTS_AT_ONCE]);
    }
    if (plan.wants("echo-pipe")) figures.push(["echo-pipe", await this.pipe.roundTrip()]);
    if (plan.wants("echo-terminal")) figures.push(["echo-terminal", await this.terminal.roundTrip()]);
    return figures;
  }
}

/** Milliseconds until all answers are there, and until all of the programs have closed. */
async function startPrograms(bed: Bed, count: number): Promise<{ response: number; closed: number }> {
  const { promise: allClosed, resolve } = Promise.withResolvers<number>();
  let open = count;
  bed.client.onNotification = (method) => {
    if (method === "process/closed" && --open === 0) resolve(performance.now());
  };
  const began = performance.now();
  const answers = Array.from(
    { length: count },
    () => bed.client.request("process/start", startParams(bed.nextId(), { argv: ["true"] })),
  );
  await Promise.all(answers);
  const response = performance.now() - began;
  return { response, closed: await bed.whileAlive(allClosed) - began };
}

/** `cat`, which answers on a pipe; on a terminal the terminal itself answers first, as it does to a person who types. */
class EchoProgram {
  #writes = 0;

  private constructor(readonly bed: Bed, readonly processId: string) {}

  static async start(bed: Bed, tty: boolean): Promise<EchoProgram> {
    const id = bed.nextId();
    await bed.client.request("process/start", startParams(id, { argv: ["cat"], tty, pipeStdin: true }));
    return new EchoProgram(bed, id);
  }

  /** Milliseconds from the write of one letter until it comes back. */
  async roundTrip(): Promise<number> {
    const { promise: echo, resolve } = Promise.withResolvers<number>();
    this.bed.client.onNotification = (_method: string, params: Members) => {
      if (params["processId"] === this.processId) resolve(performance.now());
    };
    const began = performance.now();
    const write = { processId: this.processId, chunk: "eA==", writeId: String(++this.#writes) };
    const answer = this.bed.client.request("process/write", write);
    const came = await this.bed.whileAlive(echo);
    await answer;
    return came - began;
  }
}
