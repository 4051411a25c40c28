/** Asks two servers the same in the same sandbox over twin trees, and compares answers, programs and trees. */
import { OUR_RULES, REFERENCE_RULES } from "../../wire/differences.ts";
import { Mismatch, show } from "../../wire/mismatch.ts";
import { spell } from "../fs/fs_answers.ts";
import { keptApart } from "../fs/kept_apart.ts";
import type { FsSide } from "../fs/fs_side.ts";
import * as posix from "../fs/posix.ts";
import { difference, type Snapshot, take } from "../fs/snapshot.ts";
import { TREE } from "../fs/tree.ts";
import { type Judgement, judgeReply, judgeRun, type Ran } from "./judge.ts";
import { pathsIn } from "./operations.ts";
import { type Policy, sandboxOf } from "./random_policy.ts";
import {
  type ProgramStep,
  type RequestStep,
  type SandboxScenario,
  type SandboxStep,
  TEMPORARY_NAME,
} from "./random_scenario.ts";

/** The clock of files lags behind ours by up to a tick; no time in a fixture is from today. */
const LAG_MS = 1_000;
/** Methods that name a handle and no path. */
const ON_HANDLES = new Set(["fs/readBlock", "fs/writeBlock", "fs/close"]);

export interface Counts {
  conversations: number;
  requests: number;
  programs: number;
  /** Requests and programs that the guard kept back, and requests on which both are known to differ. */
  keptBack: number;
  /** What was not the same and may be so, by reason. */
  readonly allowed: Map<string, number>;
}

const PROGRAM = await Deno.readTextFile(new URL("operate.pl", import.meta.url));

export class SandboxDuel {
  readonly counts: Counts = { conversations: 0, requests: 0, programs: 0, keptBack: 0, allowed: new Map() };
  readonly #since = Date.now() - LAG_MS;
  readonly #sides: readonly [FsSide, FsSide];
  #programs = 0;

  /** @param isStrict Nothing but exactly the same is allowed. */
  constructor(reference: FsSide, ours: FsSide, readonly isStrict: boolean) {
    this.#sides = [reference, ours];
  }

  /** @throws {Mismatch} At the first difference. */
  async play({ tree, policy, steps }: SandboxScenario): Promise<void> {
    let before = await this.#begin(tree);
    for (const [index, step] of steps.entries()) {
      try {
        const after = await this.#step(step, policy, before);
        before = after ?? await this.#begin(tree);
      } catch (error) {
        if (error instanceof Mismatch) error.message = `step ${index + 1}, ${show(step)}:\n${error.message}`;
        throw error;
      }
    }
    await Promise.all(this.#sides.map((side) => side.end()));
    this.counts.conversations++;
  }

  async #begin(tree: SandboxScenario["tree"]): Promise<Trees> {
    for (const side of this.#sides) {
      side.rebuild(tree);
      const temporary = `${side.directory}/${TEMPORARY_NAME}`;
      posix.removeTree(temporary);
      posix.mkdir(temporary);
    }
    await Promise.all(this.#sides.map((side) => side.begin("new")));
    return this.#look();
  }

  /** @returns The trees after it; null: they cannot be compared any more, and a new beginning is due. */
  async #step(step: SandboxStep, policy: Policy, before: Trees): Promise<Trees | null> {
    const sandbox = sandboxOf(policy);
    let judgement: Judgement;
    let after: Trees;
    let said: string;
    if ("method" in step) {
      const { method, params } = step;
      const plain = JSON.stringify({ id: 1, method, params });
      if (this.#sides.some((side) => side.guard.refusal(side.fillIn(plain)) !== null)) return this.#keptBack(before);
      const [{ directory }] = this.#sides;
      if (keptApart(this.#sides[0].fillIn(plain), directory, this.#rules) !== null) return this.#keptBack(before);
      const request = ON_HANDLES.has(method) ? plain : plain.replace(/\}\}$/, `,"sandbox":${sandbox}}}`);
      const replies = await both(this.#sides, async (side) => this.#spell(side, await side.ask(side.fillIn(request))));
      after = this.#look();
      judgement = judgeReply(method, replies, policy, hasChanged(step, before[0], after[0]));
      said = `the reference's server says ${show(replies[0])}\nours ${show(replies[1])}`;
      this.counts.requests++;
    } else {
      const paths = [...step.operations.flatMap(pathsIn), step.cwd];
      const isRefused = (side: FsSide) => paths.some((path) => side.guard.pathRefusal(path.replace(TREE, side.tree)));
      if (this.#sides.some(isRefused)) return this.#keptBack(before);
      const id = `p${++this.#programs}`;
      const ran = await both(this.#sides, (side) => this.#run(side, id, step, sandbox));
      after = this.#look();
      judgement = judgeRun(ran, policy);
      said = `the reference's program: ${show(ran[0])}\nours: ${show(ran[1])}`;
      this.counts.programs++;
    }
    const why = judgement.kind === "allowed" || judgement.kind === "over" ? judgement.why : null;
    if (judgement.kind === "different" || this.isStrict && why !== null) throw new Mismatch(said);
    if (why !== null) this.counts.allowed.set(why, (this.counts.allowed.get(why) ?? 0) + 1);
    if (judgement.kind === "over") return null;
    const different = difference(...after);
    if (different !== null) throw new Mismatch(`the trees differ, the reference's | ours:\n${different}\n${said}`);
    return after;
  }

  get #rules() {
    return this.isStrict ? REFERENCE_RULES : OUR_RULES;
  }

  #keptBack(before: Trees): Trees {
    this.counts.keptBack++;
    return before;
  }

  async #run(side: FsSide, id: string, step: ProgramStep, sandbox: string): Promise<Ran> {
    const { operations, cwd, env, tty } = step;
    const params = {
      ...{ processId: id, argv: ["perl", "-e", PROGRAM, "--", ...operations.map((words) => words.join("\t"))] },
      ...{ cwd: `file://${cwd}`, env: { PATH: "/usr/bin:/bin", ...env }, tty, arg0: null, sandbox: "<sandbox>" },
    };
    const request = JSON.stringify({ id: 1, method: "process/start", params }).replace('"<sandbox>"', () => sandbox);
    const reply = this.#spell(side, await side.ask(side.fillIn(request)));
    if (JSON.parse(reply).result === undefined) return { reply };
    const events = await side.closed(id);
    const text = (stream: string) => withoutNumbers(atob(events.output(stream)).replaceAll(side.directory, "<side>"));
    const { exitCode, sandboxDenied } = events;
    const stdout = step.tty ? text("pty") : text("stdout");
    return { reply, ended: { exitCode, sandboxDenied, stdout, stderr: text("stderr") } };
  }

  /** Files may hold the path of the tree. */
  #spell({ directory }: FsSide, reply: string): string {
    const readable = reply.replace(/(?<="(?:dataBase64|chunk)":")[^"]*/, (base64) => {
      return btoa(atob(base64).replaceAll(directory, "<side>"));
    });
    return withoutNumbers(spell(readable, { directory, since: this.#since }));
  }

  /** Mount points of missing names leave their mark on the times of directories, and both make some that the other does not. */
  #look(): Trees {
    const [theirs, own] = this.#sides.map(({ directory }) => {
      const all = [...take(directory, { since: this.#since, name: "<side>" })];
      return new Map(
        all.filter(([path]) => path === "t" || path.startsWith("t/")).map(([path, { line, bytes }]) => [
          path,
          { line: line.replace(/^(directory \d+) \S+/, "$1"), bytes },
        ]),
      );
    });
    return [theirs!, own!];
  }
}

/** Without the numbers of threads and files in the reference's last words. */
function withoutNumbers(text: string): string {
  return text.replace(/(?<=thread 'main' )\(\d+\)/g, "(number)").replace(/(?<=\.codex-)[\w-]+/g, "number");
}

/** Whether what a request was to change did change, but for its times: mount points come and go beside it and in it. */
function hasChanged({ params }: RequestStep, before: Snapshot, after: Snapshot): boolean {
  const path = String(params["destinationPath"] ?? params["path"]).replace(`file://${TREE}`, "t");
  const [was, is] = [before.get(path), after.get(path)];
  return was?.line.split(" ")[0] !== is?.line.split(" ")[0] || String(was?.bytes) !== String(is?.bytes);
}

type Trees = readonly [Snapshot, Snapshot];

async function both<T>(sides: readonly [FsSide, FsSide], act: (side: FsSide) => Promise<T>): Promise<readonly [T, T]> {
  return await Promise.all([act(sides[0]), act(sides[1])]);
}
