/** From the launch to a server that can be used, with a warm cache. */
import { OUR_COMMAND, RunningServer, type ServerCommand } from "../program/running_server.ts";
import type { Executable } from "./executable.ts";
import { type Plan, sides } from "./plan.ts";
import type { LocalCarrier, RowId, Side } from "./rows.ts";

const PROJECT = new URL("../../", import.meta.url).pathname;

/** The command of the README's first page: the task adds a shell and a second start of Deno. */
const OUR_TASK: ServerCommand = [Deno.execPath(), "task", "serve"];

const START_ROWS = [
  ...["start-url", "start-url-task", "start-url-executable", "start-initialized"] as const,
  ...["start-version", "start-version-executable"] as const,
];

export async function measureStartup(plan: Plan, executable: Executable | null): Promise<void> {
  if (!START_ROWS.some((row) => plan.wants(row))) return;
  for (let turn = -1; turn < plan.launches; turn++) { // turn -1 warms up
    if (turn >= 0) plan.progress(`starts, ${turn + 1} of ${plan.launches}`);
    for (const [side, command] of sides(plan)) {
      const add = (row: RowId, carrier: LocalCarrier, value: number) => {
        if (turn >= 0) plan.samples.add(row, carrier, side, value);
      };
      await measureOnce(plan, side, command, executable, add);
    }
  }
}

async function measureOnce(
  plan: Plan,
  side: Side,
  command: ServerCommand,
  executable: Executable | null,
  add: (row: RowId, carrier: LocalCarrier, value: number) => void,
): Promise<void> {
  const [isWebSocket, isStdio] = [plan.carriers.includes("ws"), plan.carriers.includes("stdio")];
  if (isWebSocket && (plan.wants("start-url") || plan.wants("start-initialized"))) {
    const { startedInMs, initializedInMs } = await startOverWebSocket(command);
    add("start-url", "ws", startedInMs);
    add("start-initialized", "ws", initializedInMs);
  }
  if (isStdio && plan.wants("start-initialized")) add("start-initialized", "stdio", await startOverStdio(command));
  if (isStdio && plan.wants("start-version")) add("start-version", "stdio", await tellVersion(side, command));
  // How else ours is started: the reference is started in one way only.
  if (plan.commands.ours !== OUR_COMMAND) return;
  if (isWebSocket && plan.wants("start-url-task")) {
    add("start-url-task", "ws", (await startOverWebSocket(side === "ours" ? OUR_TASK : command)).startedInMs);
  }
  if (executable === null) return;
  const other = side === "ours" ? executable.command : command;
  if (isWebSocket && plan.wants("start-url-executable")) {
    add("start-url-executable", "ws", (await startOverWebSocket(other)).startedInMs);
  }
  if (isStdio && plan.wants("start-version-executable")) {
    add("start-version-executable", "stdio", await tellVersion(side, other));
  }
}

/** From the launch to the end of a program that only says its version; of the reference, its command line as a whole. */
async function tellVersion(side: Side, [program, ...args]: ServerCommand): Promise<number> {
  const launchedAt = performance.now();
  const words = [...(side === "ours" ? args : []), "--version"];
  const command = new Deno.Command(program, { args: words, cwd: PROJECT, stdin: "null" });
  const { success } = await command.output();
  if (!success) throw new Error(`${program} does not say its version`);
  return performance.now() - launchedAt;
}

async function startOverWebSocket(command: ServerCommand): Promise<{ startedInMs: number; initializedInMs: number }> {
  await using server = await RunningServer.start({ command });
  await using client = await server.connect();
  await client.initialize();
  return { startedInMs: server.startedInMs, initializedInMs: performance.now() - server.launchedAt };
}

async function startOverStdio(command: ServerCommand): Promise<number> {
  await using server = await RunningServer.start({ command, listen: "stdio" });
  await using client = await server.connect();
  await client.initialize();
  return performance.now() - server.launchedAt;
}
