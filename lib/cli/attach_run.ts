import type { ExecProcess } from "../client/process.ts";
import type { Client } from "./client.ts";
import type { Cli } from "./command.ts";
import type { CommandArguments } from "./command_arguments.ts";
import { attachTo, resume } from "./detached_session.ts";
import { DetachKeys } from "./program/detach_keys.ts";
import { LINK_LOST_CODE } from "./program/ending.ts";
import { attend } from "./program/foreground.ts";
import type { Source } from "./program/input.ts";
import { aside, hint, say } from "./say.ts";
import { DetachedProcesses, stateDirectory } from "./state.ts";

export async function runAttach(args: CommandArguments, cli: Cli): Promise<number> {
  const states = new DetachedProcesses(stateDirectory((name) => cli.env(name)));
  const saved = await states.find(args.operands[0]!);
  await using client = await resume(saved, cli, states);
  const extended = await client.hasExtensions();
  const process = await attachTo(client, saved, states);
  const { tty, hasStdin } = await kindOf(process, client, extended);
  const reads = hasStdin && !args.has("--no-stdin");
  const raw = tty && reads && cli.stdin.isTerminal;
  const left = new AbortController();
  const leave = (code: number) => left.abort(code);
  using _signals = listen(process, { cli, client, leave });
  await hint(
    cli,
    raw ? "Ctrl-P Ctrl-Q leaves the program running." : "Ctrl-\\ leaves the program running; Ctrl-C interrupts it.",
  );
  const code = await attend(process, {
    cli,
    tty,
    raw,
    extended,
    client,
    source: reads ? keysOrInput(cli, raw, leave) : undefined,
    ownSignals: true,
    joinsLate: true,
    left: left.signal,
  });
  if (left.signal.aborted) await hint(cli, `\nThe program runs on; exec-server attach ${saved.id} joins it again.`);
  return code;
}

/** A server without our extensions does not tell; what the program wrote says whether that was to a terminal. */
async function kindOf(process: ExecProcess, client: Client, extended: boolean) {
  if (extended) {
    const summary = (await client.processes()).find(({ processId }) => processId === process.id);
    if (summary !== undefined) return { tty: summary.tty, hasStdin: summary.hasStdin };
  }
  const { chunks } = await process.read();
  return { tty: chunks.some(({ stream }) => stream === "pty"), hasStdin: true };
}

function keysOrInput(cli: Cli, raw: boolean, leave: (code: number) => void): Source {
  if (!raw) return () => cli.stdin.read();
  const keys = new DetachKeys();
  return async () => {
    for (;;) {
      const typed = await cli.stdin.read();
      if (typed === null) return null;
      const { pass, detached } = keys.feed(typed);
      if (detached) {
        leave(0);
        return await new Promise<never>(() => {}); // the program's input goes on without us
      }
      if (pass.length > 0) return pass;
    }
  };
}

interface Listening {
  readonly cli: Cli;
  readonly client: Client;
  readonly leave: (code: number) => void;
}

/** Signals that are not meant for the program make us leave it alone. */
function listen(process: ExecProcess, { cli, client, leave }: Listening): Disposable {
  const scope = new DisposableStack();
  scope.use(cli.onSignal("SIGTERM", () => leave(143)));
  scope.use(cli.onSignal("SIGHUP", () => leave(129)));
  scope.use(cli.onSignal("SIGQUIT", () => leave(0)));
  scope.use(cli.onSignal("SIGINT", () => {
    if (client.state !== "connected") return leave(LINK_LOST_CODE);
    process.interrupt().catch((error) => aside(say(cli, `SIGINT could not be sent: ${error.message}`)));
  }));
  return scope;
}
