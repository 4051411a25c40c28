/** Asks two servers the same in the same sandbox over twin trees, and compares answers, programs and trees. */
import { Mismatch, show } from "../../wire/mismatch.ts";
import { spell } from "../fs/fs_answers.ts";
import type { FsSide } from "../fs/fs_side.ts";
import { difference, type Snapshot, take } from "../fs/snapshot.ts";
import { TREE } from "../fs/tree.ts";
import { type Judgement, judgeReply, judgeRun, type Ran } from "./judge.ts";
import { pathsIn } from "./operations.ts";
import { sandboxOf } from "./random_policy.ts";
import type { ProgramStep, SandboxScenario, SandboxStep } from "./random_scenario.ts";

/** The clock of files lags behind ours by up to a tick; no time in a fixture is from today. */
const LAG_MS = 1_000;
/** Methods that name a handle and no path. */
const ON_HANDLES = new Set(["fs/readBlock", "fs/writeBlock", "fs/close"]);

export interface Counts {
  conversations: number;
  requests: number;
  programs: number;
  /** Requests and programs that the guard kept back. */
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
    for (const side of this.#sides) side.rebuild(tree);
    await Promise.all(this.#sides.map((side) => side.begin("new")));
    const sandbox = sandboxOf(policy);
    let before = this.#look();
    for (const [index, step] of steps.entries()) {
      try {
        const after = await this.#step(step, sandbox, before);
        if (after === null) break;
        before = after;
      } catch (error) {
        if (error instanceof Mismatch) error.message = `step ${index + 1}, ${show(step)}:\n${error.message}`;
        throw error;
      }
    }
    await Promise.all(this.#sides.map((side) => side.end()));
    this.counts.conversations++;
  }

  /** @returns The trees after it; null: there is nothing more to be compared. */
  async #step(step: SandboxStep, sandbox: string, before: Trees): Promise<Trees | null> {
    let judgement: Judgement;
    let after: Trees;
    let said: string;
    if ("method" in step) {
      const { method, params } = step;
      const plain = JSON.stringify({ id: 1, method, params });
      if (this.#sides.some((side) => side.guard.refusal(side.fillIn(plain)) !== null)) return this.#keptBack(before);
      const request = ON_HANDLES.has(method) ? plain : plain.replace(/\}\}$/, `,"sandbox":${sandbox}}}`);
      const replies = await both(this.#sides, async (side) => this.#spell(side, await side.ask(side.fillIn(request))));
      after = this.#look();
      judgement = judgeReply(method, replies, difference(before[0], after[0]) !== null);
      said = `the reference's server says ${show(replies[0])}\nours ${show(replies[1])}`;
      this.counts.requests++;
    } else {
      const paths = [...step.operations.flatMap(pathsIn), step.cwd];
      const isRefused = (side: FsSide) => paths.some((path) => side.guard.pathRefusal(path.replace(TREE, side.tree)));
      if (this.#sides.some(isRefused)) return this.#keptBack(before);
      const id = `p${++this.#programs}`;
      const ran = await both(this.#sides, (side) => this.#run(side, id, step, sandbox));
      after = this.#look();
      judgement = judgeRun(ran);
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
    const text = (stream: string) => atob(events.output(stream)).replaceAll(side.directory, "<side>");
    const { exitCode, sandboxDenied } = events;
    const stdout = step.tty ? text("pty") : text("stdout");
    return { reply, ended: { exitCode, sandboxDenied, stdout, stderr: text("stderr") } };
  }

  /** Files may hold the path of the tree. */
  #spell({ directory }: FsSide, reply: string): string {
    const readable = reply.replace(/(?<="(?:dataBase64|chunk)":")[^"]*/, (base64) => {
      return btoa(atob(base64).replaceAll(directory, "<side>"));
    });
    return spell(readable, { directory, since: this.#since });
  }

  #look(): Trees {
    const [theirs, own] = this.#sides.map(({ directory }) => take(directory, { since: this.#since, name: "<side>" }));
    return [theirs!, own!];
  }
}

type Trees = readonly [Snapshot, Snapshot];

async function both<T>(sides: readonly [FsSide, FsSide], act: (side: FsSide) => Promise<T>): Promise<readonly [T, T]> {
  return await Promise.all([act(sides[0]), act(sides[1])]);
}
