/** One run of the real Codex CLI through a server, with a scripted model. */
import { within } from "../wire/deadline.ts";
import { Announcement, Program } from "../wire/program.ts";
import {
  cliEnvironment,
  config,
  ENVIRONMENT_ID,
  environments,
  serverEnvironment,
  UNCONFINED,
} from "./configuration.ts";
import { allEnded } from "./leftovers.ts";
import type { Scenario } from "./scenario.ts";
import { ScriptedModel } from "./scripted_model.ts";
import { Stage } from "./stage.ts";
import { type Answer, answers, introduction, toolNames } from "./told.ts";

/** How long a whole run of the CLI may take, in milliseconds. It only bounds a failure. */
const CLI_DEADLINE_MS = 120_000;
const SHOWN_CHARS = 4_000;

export type Carrier = "ws" | "stdio";

/** Starts what serves the one environment; gives the variables with which the CLI finds it. */
export type Reach = (stage: Stage, resources: AsyncDisposableStack) => Promise<Readonly<Record<string, string>>>;

export interface CodexRun {
  /** The CLI. */
  readonly cli: string;
  /** The server: a command without `--listen`, with absolute paths. */
  readonly server: readonly string[];
  /** How the server is reached. One that has to be found some other way is started by that. */
  readonly carrier: Carrier | Reach;
  readonly scenario: Scenario;
}

/** What is to be seen after a run: the same for every server that does its work. */
export interface Outcome {
  readonly introduction: string;
  readonly tools: readonly string[];
  readonly answers: readonly Answer[];
  /** What is in the directories afterwards: path → content. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * Runs a scenario and ends all that it started.
 *
 * @throws {Error} If the CLI fails or does not end, the model was asked what the script does not provide for, or a
 * process was left behind.
 */
export async function runCodex({ cli, server, carrier, scenario }: CodexRun): Promise<Outcome> {
  await using stage = await Stage.make(scenario.isOutsideTmp);
  await using resources = new AsyncDisposableStack();
  resources.defer(() => allEnded(stage.root));
  const model = resources.use(new ScriptedModel(scenario.script(stage)));
  const url = carrier === "ws" || scenario.environments !== undefined
    ? await startServer(resources, server, stage)
    : "";
  const tables = await scenario.prepare?.(stage, resources) ?? "";
  await stage.write("home/.codex/config.toml", config(model.baseUrl, scenario.sandbox ?? UNCONFINED, tables));
  const env = serverEnvironment(stage, "stdio");
  const own = { id: ENVIRONMENT_ID, words: server, cwd: stage.serverHome, env };
  const list = scenario.environments?.(url, own) ?? (carrier === "stdio" ? [own] as const : null);
  if (list !== null) await stage.write("home/.codex/environments.toml", environments(list));
  const found = typeof carrier === "function" ? await carrier(stage, resources) : { CODEX_EXEC_SERVER_URL: url };
  await codexExec(cli, stage, list === null ? found : {}, model);
  await allEnded(stage.work); // what a command left running ends with the client, not with the server
  const [first, last] = [model.requests[0], model.requests.at(-1)];
  if (first === undefined || last === undefined) throw new Error("the model was never asked");
  const places = new Map([[stage.root, "<root>"]]);
  return {
    introduction: introduction(first, places),
    tools: toolNames(first),
    answers: answers(last, places),
    files: await stage.files(),
  };
}

/** A server that listens, until `resources` end; its URL. */
async function startServer(resources: AsyncDisposableStack, words: readonly string[], stage: Stage): Promise<string> {
  const announcement = new Announcement();
  const program = resources.use(
    new Program({
      words: [...words, "--listen", "ws://127.0.0.1:0"],
      cwd: stage.serverHome,
      env: serverEnvironment(stage, "ws"),
      stdin: "null",
      onOutput: announcement.take,
    }),
  );
  return await announcement.of(program);
}

/** `codex exec` in the workspace, until it ends. */
async function codexExec(
  cli: string,
  stage: Stage,
  env: Readonly<Record<string, string>>,
  model: ScriptedModel,
): Promise<void> {
  await using program = new Program({
    words: [cli, "exec", "--skip-git-repo-check", "--json", "Do what has to be done."],
    cwd: stage.work,
    env: { ...cliEnvironment(stage), ...env },
    stdin: "null",
  });
  const { code, signal } = await within(program.exited, "end of codex exec", CLI_DEADLINE_MS);
  if (code === 0 && model.faults.length === 0) return;
  const said = `stdout: ${await program.stdout}\nstderr: ${await program.stderr}`.slice(-SHOWN_CHARS);
  throw new Error([`codex exec ended with ${signal ?? code}`, ...model.faults, said].join("\n"));
}
