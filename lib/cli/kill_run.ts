import type { Client } from "./client.ts";
import type { Cli } from "./command.ts";
import type { CommandArguments } from "./command_arguments.ts";
import { attachTo, type OpenTarget, resume } from "./detached_session.ts";
import { errorWords } from "./error_words.ts";
import { openTarget } from "./open_client.ts";
import { hint, printable, say } from "./say.ts";
import { signalName } from "./signal_name.ts";
import { type DetachedProcess, DetachedProcesses, stateDirectory } from "./state.ts";

export async function runKill(args: CommandArguments, cli: Cli, open: OpenTarget = openTarget): Promise<number> {
  const states = new DetachedProcesses(stateDirectory((name) => cli.env(name)));
  const signal = signalName(args.get("--signal") ?? "TERM")!;
  let code = 0;
  for (const text of args.operands) {
    try {
      const saved = await states.find(text);
      await using client = await resume(saved, cli, states, open);
      await send(client, saved, signal, states);
      await hint(cli, `${signal} was sent to ${saved.id}; exec-server ps shows what became of it.`);
    } catch (error) {
      if (!(error instanceof Error) || error instanceof TypeError) throw error;
      await say(cli, printable(cli.stderr, errorWords(error)));
      code = 1;
    }
  }
  return code;
}

/** @throws {Error} If it had ended, or the server cannot. */
async function send(
  client: Client,
  saved: DetachedProcess,
  signal: string,
  states: DetachedProcesses,
): Promise<void> {
  const process = await attachTo(client, saved, states);
  const { exited } = await process.read({ maxBytes: 1 });
  if (exited) throw new Error(`'${saved.id}' had ended already`);
  if (signal === "SIGKILL") await process.terminate();
  else await process.signal(signal);
}
