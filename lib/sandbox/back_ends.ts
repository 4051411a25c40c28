import { ExecError } from "../errors.ts";
import type { BackEnd } from "./back_end.ts";
import { BACK_END_NAMES, type BackEndChoice, type BackEndName } from "./back_end_choice.ts";
import type { AccessPlan } from "./policy.ts";

/** What a back end keeps when it works, for people to read. */
export const PROMISES: Readonly<Record<BackEnd<unknown>["name"], string>> = {
  bubblewrap: "every policy, in a view of its own: files, processes, shared memory, network",
  unshare: "every policy, in a view of its own: files, processes, shared memory, network",
  landlock:
    "policies that only grant, without protected or denied paths below what is granted; programs see each other",
  filter: "the network alone, for policies that leave files alone",
  seatbelt: "every policy for programs, by macOS's own sandbox: files, network, signals; file requests are refused",
};

export interface BackEndReport {
  readonly name: BackEnd<unknown>["name"];
  /** Whether the operator's choice lets it be taken. */
  readonly isChosen: boolean;
  /** Why it does not work here; undefined: it does. */
  readonly reason: string | undefined;
  readonly promise: string;
}

export interface BackEndsOptions<Launch> {
  readonly choice: BackEndChoice;
  readonly backEnds: Readonly<Record<BackEndName, BackEnd<Launch>>>;
  /** For policies that leave the files alone: it needs neither namespaces nor a view, and no choice excludes it. */
  readonly filter: BackEnd<Launch>;
}

/** Chooses what a plan is enforced with, and never nothing unless there is nothing to enforce. */
export class BackEnds<Launch> {
  readonly #options: BackEndsOptions<Launch>;

  constructor(options: BackEndsOptions<Launch>) {
    this.#options = options;
  }

  /**
   * @returns null: nothing is to be enforced, because the plan allows everything, or the operator says that somebody else
   * does it.
   * @throws {ExecError} `sandboxUnavailable`, with what is missing: no sandbox can hold the plan, or none that works here.
   */
  async choose(plan: AccessPlan): Promise<BackEnd<Launch> | null> {
    if (this.#options.choice === "external") return null;
    if (plan.refusal !== undefined) throw new ExecError("sandboxUnavailable", plan.refusal);
    if (plan.fullWrite && plan.network === "enabled") return null;
    const reasons: string[] = [];
    for (const backEnd of plan.fullWrite ? [this.#options.filter] : this.#candidates()) {
      // Where it lies, for instance, is only known when it has been tried.
      const reason = backEnd.canExpress(plan) ?? (await backEnd.available())?.reason ?? backEnd.canExpress(plan);
      if (reason === undefined) return backEnd;
      reasons.push(`${backEnd.name}: ${reason}`);
    }
    throw new ExecError("sandboxUnavailable", `sandbox unavailable: ${reasons.join("; ")}`);
  }

  /** Tries every back end that there is, for people who want to know. */
  async report(): Promise<BackEndReport[]> {
    const { choice, backEnds, filter } = this.#options;
    const all = [...BACK_END_NAMES.map((name) => backEnds[name]), filter];
    const candidates = new Set([...this.#candidates(), ...(choice === "external" ? [] : [filter])]);
    const reasons = await Promise.all(all.map((backEnd) => backEnd.available()));
    return all.map((backEnd, at) => ({
      name: backEnd.name,
      isChosen: candidates.has(backEnd),
      reason: reasons[at]?.reason,
      promise: PROMISES[backEnd.name],
    }));
  }

  #candidates(): BackEnd<Launch>[] {
    const { choice, backEnds } = this.#options;
    return BACK_END_NAMES.filter((name) => choice === "auto" || choice === name).map((name) => backEnds[name]);
  }
}
