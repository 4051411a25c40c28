import { abortable } from "../abortable.ts";
import { ClientError } from "../client/client_error.ts";
import type { Client } from "./client.ts";
import type { Cli, Command } from "./command.ts";
import type { CommandArguments } from "./command_arguments.ts";
import { REGISTRY_VARIABLES, type ServerTarget, serverTarget } from "./connection_options.ts";
import { failed, type Finding, note, ok, skipped } from "./doctor/check.ts";
import { lookAtBackEnds } from "./doctor/back_ends.ts";
import { linkAdvice } from "./doctor/link_advice.ts";
import { sandbox } from "./doctor/sandbox_check.ts";
import { abilities, latency, version } from "./doctor/server_checks.ts";
import { lookAtToken } from "./doctor/token.ts";
import { copying, files, program, terminal } from "./doctor/work_checks.ts";
import { errorWords } from "./error_words.ts";
import { InterruptedError, interruption } from "./interruption.ts";
import { openTarget } from "./open_client.ts";
import { hint, painter, printable, printJson } from "./say.ts";
import { DetachedProcesses, stateDirectory, StateError } from "./state.ts";

/** What one check of a server may take, in milliseconds. */
const CHECK_MS = 15_000;
const SERVER_CHECKS = [version, latency, abilities, program, terminal, files, copying, sandbox];

/** What a test replaces. */
export interface DoctorParts {
  open(target: ServerTarget, cli: Cli): Promise<Client>;
  lookAtBackEnds(): Promise<readonly (readonly [name: string, finding: Finding])[]>;
}

const ownParts: DoctorParts = { open: openTarget, lookAtBackEnds };

export async function runDoctor(
  doctor: Command,
  args: CommandArguments,
  cli: Cli,
  { open, lookAtBackEnds }: DoctorParts = ownParts,
): Promise<number> {
  const target = serverTarget(args, doctor);
  const tell = teller(args, cli);
  await tell("address", ok(addressText(target, cli)));
  await tell("token", await lookAtToken(target, cli));
  try {
    await lookAtServer(() => open(target, cli), { target, tell, cli });
  } catch (error) {
    if (error instanceof InterruptedError) return error.code;
    throw error;
  }
  // Who asks for no other server, asks for this machine.
  if (target.kind === "embedded") await tellBackEnds(lookAtBackEnds, tell);
  await tell("detached", await lookAtState(cli));
  await hint(
    cli,
    tell.hasFailed
      ? "What failed first is usually the reason for the rest."
      : `Try: exec-server exec${connection(args)} -- uname -a`,
  );
  return tell.hasFailed ? 1 : 0;
}

interface Teller {
  (name: string, finding: Finding): Promise<void>;
  hasFailed: boolean;
}

interface Looking {
  readonly target: ServerTarget;
  readonly tell: Teller;
  readonly cli: Cli;
}

async function lookAtServer(open: () => Promise<Client>, { target, tell, cli }: Looking): Promise<void> {
  let client: Client;
  try {
    client = await open();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof TypeError) throw error;
    const advice = error instanceof ClientError ? linkAdvice(error, target) : undefined;
    await tell("connection", failed(errorWords(error), advice));
    for (const { name } of SERVER_CHECKS) await tell(name, skipped);
    return;
  }
  await using _client = client;
  using interruptible = interruption(cli);
  const interrupted = interruptible.signal;
  await tell("connection", ok(target.kind === "embedded" ? "a server of our own was started" : "the server answers"));
  let isHanging = false;
  for (const check of SERVER_CHECKS) {
    if (isHanging) {
      await tell(check.name, skipped);
      continue;
    }
    const limit = new AbortController();
    const timer = cli.clock.after(CHECK_MS, () => limit.abort(new CheckTimeoutError()));
    const signal = AbortSignal.any([limit.signal, interrupted]);
    const finding = await found(() => abortable(check.look({ client, clock: cli.clock, signal }), signal), interrupted);
    timer.cancel();
    await tell(check.name, finding);
    // The others would take as long, one after the other, and find out the same.
    isHanging = limit.signal.aborted;
  }
}

/** What a check throws is a failure, unless the user has had enough or the mistake is ours. */
async function found(look: () => Promise<Finding>, interrupted: AbortSignal): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    interrupted.throwIfAborted();
    if (error instanceof CheckTimeoutError) {
      return failed(error.message, "the machine is overloaded, or something hangs there");
    }
    if (!(error instanceof Error) || error instanceof TypeError) throw error;
    return failed(errorWords(error));
  }
}

class CheckTimeoutError extends Error {
  override readonly name = "CheckTimeoutError";
  override readonly message = `nothing came of it within ${CHECK_MS / 1000} s`;
}

async function tellBackEnds(look: DoctorParts["lookAtBackEnds"], tell: Teller): Promise<void> {
  try {
    for (const [name, finding] of await look()) await tell(name, finding);
  } catch (error) {
    if (!(error instanceof Error) || error instanceof TypeError) throw error;
    await tell("back ends", note(errorWords(error)));
  }
}

async function lookAtState(cli: Cli): Promise<Finding> {
  let directory: string;
  try {
    directory = stateDirectory((name) => cli.env(name));
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    return note(error.message, "exec --detach, ps, logs, attach and kill need it; nothing else does");
  }
  try {
    const { processes: { length }, faults } = await new DetachedProcesses(directory).list();
    if (faults.length > 0) return failed(faults.map(({ message }) => message).join(" / "));
    return length === 0
      ? ok("no program is remembered")
      : note(`programs that are remembered: ${length}`, "exec-server ps");
  } catch (error) {
    if (!(error instanceof Error) || error instanceof TypeError) throw error;
    return failed(error.message);
  }
}

function addressText(target: ServerTarget, cli: Pick<Cli, "env">): string {
  switch (target.kind) {
    case "embedded":
      return "none: a server of our own, on this machine";
    case "url":
      return target.url;
    case "environment":
      if (cli.env(REGISTRY_VARIABLES.url)?.trim()) return `environment ${target.name} of a registry, as variables say`;
      return `environment ${target.name} of environments.toml or CODEX_EXEC_SERVER_URL`;
  }
}

/** The options of this run that a next command needs as well. */
function connection(args: CommandArguments): string {
  return ["--connect", "--env", "--token-file"]
    .map((name) => args.has(name) ? ` ${name} ${args.get(name)}` : "").join("");
}

function teller(args: CommandArguments, cli: Cli): Teller {
  const paint = painter(cli, cli.stdout);
  const words = {
    ok: paint("green", "ok     "),
    note: paint("yellow", "note   "),
    failed: paint("red", "FAILED "),
    skipped: paint("dim", "skipped"),
  };
  const tell: Teller = async (name, finding) => {
    const { status, advice } = finding;
    const detail = finding.detail.replaceAll(/\s*\n\s*/g, " / ");
    if (status === "failed") tell.hasFailed = true;
    if (args.has("--json")) return await printJson(cli, { name, status, detail, advice: advice ?? null });
    await cli.stdout.write(`${words[status]} ${name.padEnd(10)}  ${printable(cli.stdout, detail)}\n`);
    if (advice !== undefined) await cli.stdout.write(`${" ".repeat(20)}→ ${printable(cli.stdout, advice)}\n`);
  };
  tell.hasFailed = false;
  return tell;
}
