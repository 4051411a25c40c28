/**
 * Measures our server and the reference in one run, turn by turn, over WebSocket, over stdio and through a relay:
 * `deno task bench --help` tells the options.
 */
import { measureBlocks } from "../tests/bench/blocks.ts";
import { builtExecutable, nameBase } from "../tests/bench/executable.ts";
import { measureFileLatency } from "../tests/bench/file_latency.ts";
import { measureFileMemory } from "../tests/bench/file_memory.ts";
import { measureHttpStream } from "../tests/bench/http_stream.ts";
import { measureLatency } from "../tests/bench/latency.ts";
import type { Plan } from "../tests/bench/plan.ts";
import { referenceCommand } from "../tests/bench/reference.ts";
import { circumstances, json, markdown, plain } from "../tests/bench/report.ts";
import { type Carrier, type RowId, ROWS, type Side } from "../tests/bench/rows.ts";
import { Samples } from "../tests/bench/samples.ts";
import { removeAtOnce } from "../tests/bench/scratch.ts";
import { measureRelay } from "../tests/bench/relay.ts";
import { measureSandboxes } from "../tests/bench/sandbox.ts";
import { measureStartup } from "../tests/bench/startup.ts";
import { measureThroughput } from "../tests/bench/throughput.ts";
import { measureTrees } from "../tests/bench/trees.ts";
import { OUR_COMMAND, RunningServer, type ServerCommand } from "../tests/program/running_server.ts";

const HELP = `usage: deno task bench [options]

  --quick             fewer turns and smaller files: a first impression, not for the README
  --filter TEXT       only rows whose id contains TEXT; may be repeated
  --carrier NAME      only ws, stdio or relay
  --server COMMAND    another server in the place of ours, without --listen; a second --server replaces the reference
  --no-reference      only one side
  --markdown          the table for the README
  --json              the same for programs
  --list              the ids of the rows

Everything is measured in turns, ours, reference, ours, reference …; the figures are medians unless the row says
otherwise. The servers run with a home directory of their own. Files, up to 2.5 GB, are made below TMPDIR and removed
again, also after Ctrl-C. Progress goes to stderr, the table to stdout.
`;

interface Options {
  quick: boolean;
  filters: string[];
  carriers: Carrier[];
  servers: ServerCommand[];
  reference: boolean;
  print: typeof plain;
}

/** What a run is made of: turns, samples per turn, launches, floods, and files as big as the rows say. */
const FULL = {
  ...{ turns: 10, samplesPerTurn: 10, launches: 15, floods: 5 },
  files: { turns: 3, bigBytes: 1_000_000_000, directoryEntries: 45_000, treeEntries: 50_000 },
};
const QUICK = {
  ...{ turns: 3, samplesPerTurn: 4, launches: 5, floods: 2 },
  files: { turns: 1, bigBytes: 100_000_000, directoryEntries: 4_500, treeEntries: 5_000 },
};

/** @throws {Error} That names what is wrong with the arguments. */
function parse(args: readonly string[]): Options {
  const options: Options = {
    quick: false,
    filters: [],
    carriers: ["ws", "stdio", "relay"],
    servers: [],
    reference: true,
    print: plain,
  };
  for (let index = 0; index < args.length; index++) {
    const name = args[index]!;
    const value = () => {
      const next = args[++index];
      if (next === undefined) throw new Error(`${name} needs a value`);
      return next;
    };
    if (name === "--quick") options.quick = true;
    else if (name === "--filter") options.filters.push(knownFilter(value()));
    else if (name === "--carrier") options.carriers = [knownCarrier(value())];
    else if (name === "--server") options.servers.push(words(value()));
    else if (name === "--no-reference") options.reference = false;
    else if (name === "--markdown") options.print = markdown;
    else if (name === "--json") options.print = json;
    else throw new Error(`unknown option ${name}`);
  }
  if (options.servers.length > 2) throw new Error("--server can be given twice at most");
  return options;
}

function knownFilter(text: string): string {
  if (ROWS.some(({ id }) => id.includes(text))) return text;
  throw new Error(`--filter ${text}: no row has such an id; --list shows them`);
}

function knownCarrier(name: string): Carrier {
  if (name === "ws" || name === "stdio" || name === "relay") return name;
  throw new Error(`--carrier must be ws, stdio or relay, not ${name}`);
}

function words(command: string): ServerCommand {
  const [program, ...args] = command.split(" ").filter((word) => word !== "");
  if (program === undefined) throw new Error("--server needs a command");
  return [program, ...args];
}

/** Without a reference the run still has its figures, and says why there is nothing to compare them with. */
async function commands({ servers, reference }: Options): Promise<Partial<Record<Side, ServerCommand>>> {
  const ours = servers[0] ?? OUR_COMMAND;
  if (servers[1] !== undefined) return { ours, reference: servers[1] };
  if (!reference) return { ours };
  try {
    return { ours, reference: await referenceCommand() };
  } catch (error) {
    console.error(`no reference to compare with: ${error instanceof Error ? error.message : error}`);
    return { ours };
  }
}

async function run(options: Options): Promise<string> {
  const plan: Plan = {
    ...(options.quick ? QUICK : FULL),
    commands: await commands(options),
    carriers: options.carriers.filter((carrier) => carrier !== "relay"),
    relay: options.carriers.includes("relay"),
    samples: new Samples(),
    wants: (row: RowId) => options.filters.length === 0 || options.filters.some((text) => row.includes(text)),
    progress: (text) => console.error(`… ${text}`),
  };
  const executable = await builtExecutable();
  await measureStartup(plan, executable);
  await measureLatency(plan);
  await measureThroughput(plan);
  await measureFileLatency(plan);
  await measureBlocks(plan);
  await measureTrees(plan);
  await measureHttpStream(plan);
  await measureFileMemory(plan);
  await measureSandboxes(plan);
  await measureRelay(plan);
  const lines = plan.samples.lines().filter(({ row }) => plan.wants(row.id as RowId));
  return options.print(nameBase(lines, executable), circumstances(plan.commands.reference !== undefined));
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--help")) return print(HELP);
  if (args.includes("--list")) return print(ROWS.map(({ id, title }) => `${id.padEnd(20)}${title}\n`).join(""));
  if (Deno.build.os !== "linux") return fail("the bench reads /proc and runs on Linux only");
  try {
    return print(await run(parse(args)));
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

function print(text: string): number {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
  return 0;
}

function fail(reason: string): number {
  console.error(`bench: ${reason}`);
  return 1;
}

if (import.meta.main) {
  // One directory for all that is made here, the homes of the servers included.
  const directory = await Deno.makeTempDir({ prefix: "bench-" });
  Deno.env.set("TMPDIR", directory);
  for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
    Deno.addSignalListener(signal, () => {
      RunningServer.endAll();
      removeAtOnce(directory);
      Deno.exit(code);
    });
  }
  const code = await main(Deno.args);
  removeAtOnce(directory);
  Deno.exit(code);
}
