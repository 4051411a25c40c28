import { ClientError } from "../client/client_error.ts";
import type { Client, ProcessSummary } from "./client.ts";
import type { Cli } from "./command.ts";
import type { CommandArguments } from "./command_arguments.ts";
import { isUnknown, type OpenTarget, ProcessGoneError, resume, SessionInUseError } from "./detached_session.ts";
import { localTime } from "./local_time.ts";
import { errorWords } from "./error_words.ts";
import { openTarget } from "./open_client.ts";
import { hint, painter, printable, printJson, say } from "./say.ts";
import { type DetachedProcess, DetachedProcesses, stateDirectory, type Target } from "./state.ts";
import { columns } from "./columns.ts";

/** Servers that are asked at once. */
const MAX_SESSIONS = 8;

export interface ListedProcess {
  /** Null: exec --detach did not start it. */
  readonly id: string | null;
  readonly program: string;
  readonly server: string;
  readonly startedAt: Date;
  readonly state: "running" | "ended" | "in use" | "unreachable";
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly reason: string | null;
  /** Why nothing is known. */
  readonly error: string | null;
}

export async function runPs(args: CommandArguments, cli: Cli): Promise<number> {
  const states = new DetachedProcesses(stateDirectory((name) => cli.env(name)));
  const { listed, gone, faults } = await look(states, cli);
  const code = faults.length === 0 ? 0 : 1;
  const asJson = args.has("--json");
  if (asJson) {
    for (const { startedAt, ...rest } of listed) await printJson(cli, { ...rest, startedAt: startedAt.toISOString() });
  } else if (listed.length > 0) await cli.stdout.write(table(listed, cli));
  // In JSON each has its own.
  const words = asJson ? [] : listed.flatMap(({ error }) => error ?? []);
  if (gone.length > 0) {
    const who = gone.length === 1 ? "its server does" : "their servers do";
    words.push(`forgotten, since ${who} not know it any more: ${gone.join(", ")}`);
  }
  for (const text of new Set([...words, ...faults.map(({ message }) => message)])) {
    await say(cli, printable(cli.stderr, text));
  }
  if (asJson) return code;
  await hint(
    cli,
    listed.length === 0
      ? "Nothing is remembered; exec-server exec --detach --connect URL -- PROGRAM leaves a program running."
      : "exec-server logs -f ID, exec-server attach ID, exec-server kill ID: the beginning of an ID is enough.",
  );
  return code;
}

/** Asks every server about what it runs for us. */
export async function look(
  states: DetachedProcesses,
  cli: Cli,
  open: OpenTarget = openTarget,
): Promise<{ listed: ListedProcess[]; gone: string[]; faults: Error[] }> {
  const { processes: saved, faults } = await states.list();
  const listed: ListedProcess[] = [];
  const gone: string[] = [];
  for (let at = 0; at < saved.length; at += MAX_SESSIONS) {
    const answers = await Promise.all(
      saved.slice(at, at + MAX_SESSIONS).map((process) => lookAt(process, states, cli, open)),
    );
    for (const answer of answers) {
      if (typeof answer === "string") gone.push(answer);
      else listed.push(...answer);
    }
  }
  return { listed, gone, faults };
}

/** @returns The process and others of its session; or its id, if it is gone. */
async function lookAt(
  saved: DetachedProcess,
  states: DetachedProcesses,
  cli: Cli,
  open: OpenTarget,
): Promise<ListedProcess[] | string> {
  try {
    await using client = await resume(saved, cli, states, open);
    const found = await client.hasExtensions() ? await summaries(client, saved) : [await stockState(client, saved)];
    if (found.some(({ id }) => id === saved.id)) return found;
    await states.forget(saved.id);
    return saved.id;
  } catch (error) {
    if (error instanceof ProcessGoneError) return saved.id;
    if (isUnknown(error, "process")) {
      await states.forget(saved.id);
      return saved.id;
    }
    if (error instanceof SessionInUseError) return [unknown(saved, "in use", null)];
    if (error instanceof ClientError) return [unknown(saved, "unreachable", errorWords(error))];
    throw error;
  }
}

async function summaries(client: Client, saved: DetachedProcess): Promise<ListedProcess[]> {
  return (await client.processes()).map((summary) => ({
    id: summary.processId === saved.id ? saved.id : null,
    program: summary.argv[0] ?? saved.program,
    server: serverName(saved.target),
    startedAt: new Date(Number(summary.startedAtMs)),
    ...endOf(summary),
    error: null,
  }));
}

function endOf({ end }: ProcessSummary): Pick<ListedProcess, "state" | "exitCode" | "signal" | "reason"> {
  if (end === null) return { state: "running", exitCode: null, signal: null, reason: null };
  return { state: "ended", exitCode: Number(end.exitCode), signal: end.signal, reason: end.reason };
}

/** A server without our extensions is asked for what comes after all output. */
async function stockState(client: Client, saved: DetachedProcess): Promise<ListedProcess> {
  const process = await client.attach(saved.id);
  const { exited, exitCode } = await process.read({ maxBytes: 1 });
  return {
    ...unknown(saved, exited ? "ended" : "running", null),
    exitCode: exitCode === null ? null : Number(exitCode),
  };
}

function unknown(saved: DetachedProcess, state: ListedProcess["state"], error: string | null): ListedProcess {
  const { id, program, target, startedAt } = saved;
  return {
    id,
    program,
    server: serverName(target),
    startedAt,
    state,
    exitCode: null,
    signal: null,
    reason: null,
    error,
  };
}

function serverName(target: Target): string {
  return "url" in target ? target.url : target.env;
}

function table(listed: readonly ListedProcess[], cli: Cli): string {
  const paint = painter(cli, cli.stdout);
  const rows = listed.map((process) => [
    process.id ?? "-",
    stateText(process),
    localTime(process.startedAt),
    printable(cli.stdout, process.program),
    printable(cli.stdout, process.server),
  ]);
  const [head, ...lines] = columns([["ID", "STATE", "STARTED", "PROGRAM", "SERVER"], ...rows]);
  return [paint("bold", head!), ...lines].map((line) => line + "\n").join("");
}

function stateText({ state, exitCode, signal, reason }: ListedProcess): string {
  if (state !== "ended") return state;
  if (reason === "timeLimit") return "ended (time limit)";
  return signal === null ? `ended (${exitCode ?? "?"})` : `ended (${signal})`;
}
