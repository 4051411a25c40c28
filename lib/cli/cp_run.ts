import type { Environment } from "../client/environment.ts";
import type { Client } from "./client.ts";
import { type Cli, type Command, ReaderGoneError } from "./command.ts";
import { type CommandArguments, usageError } from "./command_arguments.ts";
import type { Copying } from "./copy/copying.ts";
import { type CopyPlan, planCopy } from "./copy/copy_operands.ts";
import { download } from "./copy/download.ts";
import { FarPrograms } from "./copy/far_programs.ts";
import { FarSide } from "./copy/far_side.ts";
import { parsePlace } from "./copy/place.ts";
import { patience } from "./copy/patience.ts";
import { CopyReport } from "./copy/report.ts";
import { upload } from "./copy/upload.ts";
import { isFinal, wordsOf } from "./copy/walk_words.ts";
import { InterruptedError, interruption } from "./interruption.ts";
import { openClient } from "./open_client.ts";
import { noProgress, terminalProgress } from "./progress.ts";
import { hint, printable, printJson, say } from "./say.ts";

export async function runCp(cp: Command, args: CommandArguments, cli: Cli): Promise<number> {
  const plan = planCopy(args.operands.map(parsePlace));
  if (typeof plan === "string") throw usageError(cp, plan);
  if (args.has("--json") && plan.direction === "down" && plan.target.side === "stream") {
    throw usageError(cp, "the argument '--json' cannot be used with '-' as the target: both need standard output");
  }
  await using client = await openClient(args, cp, cli);
  using interrupted = interruption(cli);
  using limit = patience(interrupted.signal, () => client.state === "connected", cli.clock);
  const progress = args.has("--quiet") ? noProgress : terminalProgress(cli);
  const copying = await begin(client, interrupted.signal, limit.over, progress);
  const failure = await copyAll(plan, copying, cli);
  copying.progress.end();
  await tell(copying.report, failure, args, cli);
  if (failure instanceof InterruptedError) {
    if (plan.direction === "down") await hint(cli, "The same command continues a file where it was interrupted.");
    return failure.code;
  }
  if (failure !== undefined) throw failure;
  return copying.report.isComplete ? 0 : 1;
}

async function begin(
  client: Client,
  signal: AbortSignal,
  over: AbortSignal,
  progress: Copying["progress"],
): Promise<Copying> {
  const info = await client.info({ signal });
  const environment: Pick<Environment, "files" | "run" | "start"> = client;
  const far = new FarSide(environment, info, signal, over);
  return {
    far,
    programs: new FarPrograms(far),
    origin: info.providerId ?? client.id,
    hasExtensions: await client.hasExtensions(),
    progress,
    report: new CopyReport(),
    signal,
  };
}

/**
 * Copies one source after the other. One that fails does not keep the others from being copied, unless they would fail
 * for the same reason.
 *
 * @returns The last failure; the ones before it have been said.
 */
async function copyAll(plan: CopyPlan, copying: Copying, cli: Cli): Promise<unknown> {
  const many = plan.sources.length > 1;
  const copies = plan.direction === "up"
    ? plan.sources.map((source) => () => upload(copying, source, plan.target, { many, stdin: cli.stdin }))
    : plan.sources.map((source) => () => download(copying, source, plan.target, { many, stdout: cli.stdout }));
  let failure: unknown;
  for (const copy of copies) {
    if (failure !== undefined) await say(cli, printable(cli.stderr, wordsOf(failure)));
    failure = undefined;
    try {
      await copy();
    } catch (error) {
      if (copying.signal.aborted) return copying.signal.reason;
      if (error instanceof ReaderGoneError || isFinal(error)) return error;
      failure = error;
    }
    copying.progress.end();
    if (failure !== undefined) copying.report.failures++;
  }
  return failure;
}

async function tell(report: CopyReport, failure: unknown, args: CommandArguments, cli: Cli): Promise<void> {
  const sentences = report.sentences();
  for (const sentence of sentences) await say(cli, printable(cli.stderr, sentence));
  if (!args.has("--json")) return;
  const { files, directories, bytes } = report;
  await printJson(cli, {
    files,
    directories,
    bytes,
    complete: failure === undefined && report.isComplete,
    notes: sentences,
  });
}
