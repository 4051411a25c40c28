/** What enforces a policy on this machine: the ways that there are, which one is taken, and why not another. */

import { type Clock, systemClock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { BackEndName } from "./back_end_choice.ts";
import type { AccessPlan } from "./policy.ts";

export interface Unavailable {
  /** For people to read; without paths of theirs. */
  readonly reason: string;
}

/** @typeParam Launch How a program is started with it, which is none of the business of who chooses. */
export interface BackEnd<Launch> {
  readonly name: BackEndName | "filter" | "seatbelt";
  readonly launch: Launch;
  /** Why it cannot hold a plan; undefined: it can. Costs nothing. */
  canExpress(plan: AccessPlan): string | undefined;
  /** Why it does not work on this machine; undefined: it does. Tries it once. */
  available(): Promise<Unavailable | undefined>;
}

/** What was found missing is looked at again after so long, in ms: it may have been a matter of the moment. */
export const RETRY_AFTER_MS = 60_000;

export interface BackEndOptions<Launch> {
  readonly name: BackEnd<Launch>["name"];
  readonly launch: Launch;
  /** {@linkcode BackEnd.canExpress}; absent: whatever a plan says. */
  readonly obstacle?: (plan: AccessPlan) => string | undefined;
  /** Really tries; why it does not work. */
  readonly test: () => Promise<string | undefined>;
  /** Hears what came of the test: clients are told, and whoever runs the machine would know of nothing. */
  readonly log: Log;
  readonly clock?: Clock;
}

/** A back end whose test is made when it is first asked for, once for all who ask. */
export class TestedBackEnd<Launch> implements BackEnd<Launch> {
  readonly name: BackEnd<Launch>["name"];
  readonly launch: Launch;
  readonly #options: BackEndOptions<Launch>;
  readonly #clock: Clock;
  #tested: Promise<Unavailable | undefined> | undefined;
  /** When a failure was found; infinite: none was. */
  #failedAt = Infinity;
  /** The last failure that was logged: what stays as it is, is not said again. */
  #logged: string | undefined;

  constructor(options: BackEndOptions<Launch>) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.name = options.name;
    this.launch = options.launch;
  }

  canExpress(plan: AccessPlan): string | undefined {
    return plan.refusal ?? this.#options.obstacle?.(plan);
  }

  available(): Promise<Unavailable | undefined> {
    if (this.#clock.now() - this.#failedAt >= RETRY_AFTER_MS) this.#tested = undefined;
    return this.#tested ??= this.#test();
  }

  async #test(): Promise<Unavailable | undefined> {
    this.#failedAt = Infinity;
    const { test, log } = this.#options;
    const reason = await test().catch((error) => `it cannot be tried: ${nameOf(error)}`);
    if (reason === undefined) {
      log.info("a back end for sandboxes works", { backEnd: this.name });
      return undefined;
    }
    this.#failedAt = this.#clock.now();
    if (reason !== this.#logged) {
      log.warn("a back end for sandboxes does not work here", { backEnd: this.name, reason });
    }
    this.#logged = reason;
    return { reason };
  }
}

/** The message of an unforeseen failure may name files. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "unknown";
}
