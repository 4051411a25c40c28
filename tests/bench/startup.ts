/** From the launch to a server that can be used, with a warm cache. */
import { OUR_COMMAND, RunningServer, type ServerCommand } from "../program/running_server.ts";
import { type Plan, sides } from "./plan.ts";

/** The command of the README's first page: the task adds a shell and a second start of Deno. */
const OUR_TASK: ServerCommand = [Deno.execPath(), "task", "serve"];

const START_ROWS = ["start-url", "start-url-task", "start-initialized"] as const;

export async function measureStartup(plan: Plan): Promise<void> {
  if (!START_ROWS.some((row) => plan.wants(row))) return;
  const url = plan.wants("start-url") || plan.wants("start-initialized");
  for (let turn = -1; turn < plan.launches; turn++) { // turn -1 warms up
    if (turn >= 0) plan.progress(`starts, ${turn + 1} of ${plan.launches}`);
    for (const [side, command] of sides(plan)) {
      if (url && plan.carriers.includes("ws")) {
        const { startedInMs, initializedInMs } = await startOverWebSocket(command);
        if (turn >= 0) plan.samples.add("start-url", "ws", side, startedInMs);
        if (turn >= 0) plan.samples.add("start-initialized", "ws", side, initializedInMs);
      }
      if (plan.wants("start-initialized") && plan.carriers.includes("stdio")) {
        const initializedInMs = await startOverStdio(command);
        if (turn >= 0) plan.samples.add("start-initialized", "stdio", side, initializedInMs);
      }
      if (plan.wants("start-url-task") && plan.carriers.includes("ws") && plan.commands.ours === OUR_COMMAND) {
        const { startedInMs } = await startOverWebSocket(side === "ours" ? OUR_TASK : command);
        if (turn >= 0) plan.samples.add("start-url-task", "ws", side, startedInMs);
      }
    }
  }
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
