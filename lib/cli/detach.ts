import { DETACHED_LIFETIME_MS } from "../client/limits.ts";
import { durationText } from "../client/duration_text.ts";
import type { Cli, Command } from "./command.ts";
import { type CommandArguments, usageError } from "./command_arguments.ts";
import { type ServerTarget, toSave } from "./connection_options.ts";
import { parseDuration } from "./duration.ts";
import { openTarget, wayTo } from "./open_client.ts";
import { launch, LaunchError, sayLaunchError } from "./program/launch.ts";
import { hint, printJson, say } from "./say.ts";
import { startOptions } from "./start_options.ts";
import { DetachedProcesses, stateDirectory } from "./state.ts";

/** What a session is asked to live without a client, unless the command line says otherwise. */
const DEFAULT_KEEP_MS = 24 * 3_600_000;
const ENDS_WITH_US = "server is started by this command and ends with it, and the program too";
/** Digits of an id; enough that two never meet on one machine. */
const ID_DIGITS = 12;

/** `exec --detach`: starts the program, remembers where, and leaves. */
export async function detach(
  exec: Command,
  args: CommandArguments,
  target: ServerTarget,
  cli: Cli,
): Promise<number> {
  const saved = toSave(target, cli);
  if (saved === undefined) {
    throw usageError(
      exec,
      `the argument '--detach' needs '--connect <URL>' or '--env <NAME>': without them the ${ENDS_WITH_US}`,
    );
  }
  if ((await wayTo(target, cli)).carrier.resume === null) {
    throw new Error(`--detach is of no use with this environment: its ${ENDS_WITH_US}`);
  }
  const timeLimitMs = duration(args, "--timeout");
  const tty = args.has("--tty");
  const start = startOptions(exec, args, { tty }, cli);
  const states = new DetachedProcesses(stateDirectory((name) => cli.env(name)));
  await using client = await openTarget(target, cli);
  const extended = await client.hasExtensions();
  if (timeLimitMs !== undefined && !extended) {
    throw new Error(
      "this server cannot keep a time limit, and with --detach we are not there to do it: leave out --timeout",
    );
  }
  const id = crypto.randomUUID().replaceAll("-", "").slice(0, ID_DIGITS);
  const { sessionId } = client;
  // Before the start: what runs must be found again.
  await states.save({ id, ...saved, sessionId, startedAt: new Date(cli.time()), program: start.argv[0]! });
  let keptMs: number;
  try {
    keptMs = extended ? await client.lease(duration(args, "--keep") ?? DEFAULT_KEEP_MS) : DETACHED_LIFETIME_MS;
    await launch(client, {
      ...start,
      processId: id,
      ...(tty ? { tty: (extended ? cli.terminalSize() : undefined) ?? true } : { stdin: args.has("--interactive") }),
      ...(timeLimitMs === undefined ? {} : { timeLimitMs }),
    });
  } catch (error) {
    await states.forget(id);
    if (error instanceof LaunchError) return await sayLaunchError(cli, error);
    throw error;
  }
  if (args.has("--json")) await printJson(cli, { processId: id, sessionId, keptMs });
  else await cli.stdout.write(`${id}\n`);
  await tellHowLong(id, keptMs, { args, extended, cli });
  return 0;
}

interface Told {
  readonly args: CommandArguments;
  readonly extended: boolean;
  readonly cli: Cli;
}

async function tellHowLong(id: string, keptMs: number, { args, extended, cli }: Told): Promise<void> {
  if (!extended) {
    await say(
      cli,
      `this server ends the program ${durationText(keptMs)} after this command, unless somebody attaches to it before`,
    );
  } else if (keptMs < (duration(args, "--keep") ?? 0)) {
    await say(cli, `the server keeps the program for ${durationText(keptMs)} only without anybody connected`);
  }
  await hint(
    cli,
    `exec-server logs -f ${id}   shows its output\nexec-server attach ${id}    joins it\nexec-server kill ${id}      ends it`,
  );
}

function duration(args: CommandArguments, name: string): number | undefined {
  const text = args.get(name);
  return text === undefined ? undefined : parseDuration(text);
}
