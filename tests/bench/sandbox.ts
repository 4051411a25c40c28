/** What a client waits for in a sandbox: a program's end, and files. */
import { startParams } from "../program/process_watch.ts";
import { OUR_COMMAND, type ServerCommand } from "../program/running_server.ts";
import type { Members } from "../support/wire_client.ts";
import { Bed, type Plan, sides } from "./plan.ts";
import type { LocalCarrier, RowId, Side } from "./rows.ts";
import type { SANDBOX_ROWS } from "./sandbox_rows.ts";
import { Scratch } from "./scratch.ts";

const ENTRIES = 100;
const KB = 1_000;

type SandboxRow = typeof SANDBOX_ROWS[number]["id"];

/** Reading is restricted as well, so that requests that read need a sandbox, too. */
function sandbox(scratch: Scratch, kind: "workspace" | "narrow" | "read-only"): Members {
  const special = (kind: string) => ({ path: { type: "special", value: { kind } }, access: "read" });
  const workspace = { path: { type: "path", path: `file://${encodeURI(scratch.directory)}` }, access: "write" };
  const entries = [special(kind === "narrow" ? "minimal" : "root"), ...(kind === "read-only" ? [] : [workspace])];
  return {
    permissions: { type: "managed", file_system: { type: "restricted", entries }, network: "restricted" },
    windowsSandboxLevel: "disabled",
  };
}

export async function measureSandboxes(plan: Plan): Promise<void> {
  await using scratch = await Scratch.make();
  await Deno.writeFile(scratch.path("1kb"), new Uint8Array(KB).fill(97));
  await Deno.mkdir(scratch.path("directory"));
  for (let index = 0; index < ENTRIES; index++) {
    await Deno.writeFile(scratch.path(`directory/${index}`), new Uint8Array());
  }
  for (const carrier of plan.carriers) {
    await measureWith(plan, carrier, [], {
      "sandbox-start": startTrue(sandbox(scratch, "workspace")),
      ...fileRows(scratch, sandbox(scratch, "narrow")),
    });
    // What is chosen is one of our own options.
    if (plan.commands.ours !== OUR_COMMAND) continue;
    const start = startTrue(sandbox(scratch, "workspace"));
    await measureWith(plan, carrier, ["--sandbox", "unshare"], { "sandbox-start-unshare": start });
    const readOnly = startTrue(sandbox(scratch, "read-only"));
    await measureWith(plan, carrier, ["--sandbox", "landlock"], { "sandbox-start-landlock": readOnly });
  }
}

/** Milliseconds that one sample takes. */
type Measure = (bed: Bed) => Promise<number>;

/** @param options Of our server alone. */
async function measureWith(
  plan: Plan,
  carrier: LocalCarrier,
  options: readonly string[],
  rows: Readonly<Partial<Record<SandboxRow, Measure>>>,
): Promise<void> {
  const wanted = (Object.entries(rows) as [SandboxRow & RowId, Measure][]).filter(([row]) => plan.wants(row));
  if (wanted.length === 0) return;
  plan.progress(`sandboxes over ${carrier}${options.map((word) => ` ${word}`).join("")}`);
  await using stack = new AsyncDisposableStack();
  const beds: Bed[] = [];
  for (const [side, command] of sides(plan)) {
    beds.push(stack.use(await Bed.make(side, commandOf(side, command, options), carrier)));
  }
  for (let turn = -1; turn < plan.turns; turn++) { // turn -1 warms up
    for (const bed of beds) {
      for (let sample = 0; sample < plan.samplesPerTurn; sample++) {
        for (const [row, measure] of wanted) {
          const figure = await measure(bed);
          if (turn >= 0) plan.samples.add(row, carrier, bed.side, figure);
        }
      }
    }
  }
}

function commandOf(side: Side, command: ServerCommand, options: readonly string[]): ServerCommand {
  return side === "ours" ? [...command, ...options] : command;
}

function startTrue(sandbox: Members): Measure {
  return async (bed) => {
    const { promise: exited, resolve } = Promise.withResolvers<[number, unknown]>();
    bed.client.onNotification = (method, params) => {
      if (method === "process/exited") resolve([performance.now(), params["exitCode"]]);
    };
    const began = performance.now();
    const answer = bed.client.request("process/start", { ...startParams(bed.nextId(), { argv: ["true"] }), sandbox });
    // Whatever is refused never exits.
    const [at, code] = await bed.whileAlive(Promise.race([exited, answer.then(() => exited)]));
    await answer;
    if (code !== 0) throw new Error(`true ended with ${code} in a sandbox of ${bed.side}`);
    return at - began;
  };
}

function fileRows(scratch: Scratch, sandbox: Members): Readonly<Partial<Record<SandboxRow, Measure>>> {
  const ask = (method: string, name: string, more: Members = {}): Measure => async (bed) => {
    const began = performance.now();
    await bed.client.request(method, { path: scratch.uri(name), ...more, sandbox });
    return performance.now() - began;
  };
  return {
    "sandbox-metadata": ask("fs/getMetadata", "1kb"),
    "sandbox-read": ask("fs/readFile", "1kb"),
    "sandbox-write": ask("fs/writeFile", "written", { dataBase64: new Uint8Array(KB).fill(98).toBase64() }),
    "sandbox-directory": ask("fs/readDirectory", "directory"),
  };
}
