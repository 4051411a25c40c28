import type { Environment } from "../client/environment.ts";
import type { Client } from "./client.ts";
import type { Cli, Command } from "./command.ts";
import { type CommandArguments, usageError } from "./command_arguments.ts";
import type { Copying } from "./copy/copying.ts";
import { type CopyPlan, planCopy } from "./copy/copy_operands.ts";
import { download } from "./copy/download.ts";
import { FarPrograms } from "./copy/far_programs.ts";
import { FarSide } from "./copy/far_side.ts";
import { parsePlace } from "./copy/place.ts";
import { CopyReport } from "./copy/report.ts";
import { upload } from "./copy/upload.ts";
import { InterruptedError, interruption } from "./interruption.ts";
import { openClient } from "./open_client.ts";
import { noProgress, terminalProgress } from "./progress.ts";
import { hint, printable, printJson, say } from "./say.ts";

export async function runCp(cp: Command, args: CommandArguments, cli: Cli): Promise<number> {
  const plan = planCopy(args.operands.map(parsePlace));
  if (typeof plan === "string") throw usageError(cp, plan);
  using interrupted = interruption(cli);
  await using client = await openClient(args, cp, cli);
  const copying = await begin(client, interrupted.signal, args.has("--quiet") ? noProgress : terminalProgress(cli));
  let failure: unknown;
  try {
    await copyAll(plan, copying, cli);
  } catch (error) {
    failure = interrupted.signal.aborted ? interrupted.signal.reason : error;
  }
  copying.progress.end();
  await tell(copying.report, failure, args, cli);
  if (failure instanceof InterruptedError) {
    if (plan.direction === "down") await hint(cli, "The same command continues a file where it was interrupted.");
    return failure.code;
  }
  if (failure !== undefined) throw failure;
  return copying.report.isComplete ? 0 : 1;
}

async function begin(client: Client, signal: AbortSignal, progress: Copying["progress"]): Promise<Copying> {
  const info = await client.info({ signal });
  const environment: Pick<Environment, "files" | "run" | "start"> = client;
  const far = new FarSide(environment, info, signal);
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

async function copyAll(plan: CopyPlan, copying: Copying, cli: Cli): Promise<void> {
  const many = plan.sources.length > 1;
  if (plan.direction === "up") {
    for (const source of plan.sources) await upload(copying, source, plan.target, { many, stdin: cli.stdin });
  } else {
    for (const source of plan.sources) await download(copying, source, plan.target, { many, stdout: cli.stdout });
  }
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
