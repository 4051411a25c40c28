/** Asks two servers the same about twin trees and compares the answers and the trees. */
import { sleep } from "../../wire/deadline.ts";
import type { Rules } from "../../wire/differences.ts";
import { Mismatch, show } from "../../wire/mismatch.ts";
import { deedRefusal, perform } from "./deeds.ts";
import { sameAnswer, spell } from "./fs_answers.ts";
import type { FsSide } from "./fs_side.ts";
import { deedKeptApart, keptApart } from "./kept_apart.ts";
import type { FsScenario, FsStep } from "./random_scenario.ts";
import { difference, take } from "./snapshot.ts";

/** Methods that may change a tree. */
const CHANGES = /"fs\/(open|writeBlock|writeFile|createDirectory|remove|copy)"/;
/** The clock of files lags behind ours by up to a tick; no time in a fixture is from today. */
const LAG_MS = 1_000;
/** How long a notification may take, how long a difference may last, and how often to look, in milliseconds. */
const QUIET_MS = 100, AGREE_MS = 5_000, LOOK_MS = 3;

export interface Counts {
  conversations: number;
  /** Requests whose answers were compared. */
  compared: number;
  /** Notifications that both sent. */
  notified: number;
  /** Requests and deeds that the guard kept back. */
  keptBack: number;
  /** Requests on which both cannot be compared. */
  keptApart: number;
}

export class FsDuel {
  readonly counts: Counts = { conversations: 0, compared: 0, notified: 0, keptBack: 0, keptApart: 0 };
  readonly #since = Date.now() - LAG_MS;

  constructor(readonly reference: FsSide, readonly ours: FsSide, readonly rules: Rules) {
    if (reference.directory.length !== ours.directory.length) throw new Error("limits count the letters of paths");
  }

  /** A watch may be active: notifications are waited for, and trees not looked at, which changes modes for a moment. */
  #watching = false;
  /** The requests that were answered with a watch. */
  #watches: string[] = [];

  /** @throws {Mismatch} At the first difference. */
  async play({ tree, steps }: FsScenario): Promise<void> {
    for (const side of this.#sides) side.rebuild(tree);
    await Promise.all(this.#sides.map((side) => side.begin("new")));
    this.#watching = false;
    this.#watches = [];
    for (const [index, step] of steps.entries()) {
      try {
        const before = this.ours.events.length;
        await this.#step(step);
        if (this.#watching) await this.#settle(before);
      } catch (error) {
        if (error instanceof Mismatch) error.message = `step ${index + 1}, ${show(step)}:\n${error.message}`;
        throw error;
      }
    }
    if (this.#watches.length > 0) await this.#settle(Infinity);
    this.#watching = false;
    this.#compareTrees();
    await Promise.all(this.#sides.map((side) => side.end()));
    this.counts.conversations++;
  }

  get #sides(): readonly [FsSide, FsSide] {
    return [this.reference, this.ours];
  }

  async #step(step: FsStep): Promise<void> {
    if ("reconnect" in step) {
      await Promise.all(this.#sides.map((side) => side.begin(step.reconnect)));
      this.#watching = false;
    } else if ("deed" in step) {
      if (this.#sides.some(({ tree, guard }) => deedRefusal(step.deed, tree, guard) !== null)) this.counts.keptBack++;
      else if (this.#watching && deedKeptApart(step.deed, this.#watches, this.rules) !== null) this.counts.keptApart++;
      else this.#same("somebody", this.#sides.map(({ tree }) => perform(step.deed, tree)) as [string, string]);
    } else if ("times" in step) {
      for (let i = 0; i < step.times; i++) await this.#ask([step.send.replace("<number>", String(i))]);
      this.#compareTrees();
    } else {
      const requests = "together" in step ? step.together : [step.send];
      await this.#ask(requests);
      if (requests.some((request) => CHANGES.test(request))) this.#compareTrees();
    }
  }

  /** Asks all of it at once, without what must not be asked. */
  async #ask(requests: readonly string[]): Promise<void> {
    const allowed = requests.filter((request) => this.#mayAsk(request));
    if (allowed.length === 0) return;
    const spelled = await Promise.all(this.#sides.map(async (side) => {
      const answers = await side.askTogether(allowed.map((request) => side.fillIn(request)));
      return answers.map((text) => spell(text, { directory: side.directory, since: this.#since }));
    })) as [string[], string[]];
    for (const [i, request] of allowed.entries()) {
      const [expected, got] = spelled.map((answers) => answers[i]) as [string, string];
      if (!sameAnswer(expected, got, this.rules)) this.#same("server", [expected, got]);
      this.counts.compared++;
      if (!expected.includes('"watching":true')) continue;
      this.#watching = true;
      this.#watches.push(request);
    }
  }

  #mayAsk(request: string): boolean {
    const [theirs, own] = this.#sides.map((side) => side.fillIn(request)) as [string, string];
    if (this.reference.guard.refusal(theirs) !== null || this.ours.guard.refusal(own) !== null) {
      this.counts.keptBack++;
      return false;
    }
    if (keptApart(theirs, this.reference.directory, this.rules) !== null) {
      this.counts.keptApart++;
      return false;
    }
    return true;
  }

  /** Waits until both have notified the same, more than `before`, or nothing for a while. */
  async #settle(before: number): Promise<void> {
    for (const since = performance.now();; await sleep(LOOK_MS)) {
      const [theirs, own] = this.#sides.map(({ events }) => events) as [readonly string[], readonly string[]];
      const waitedMs = performance.now() - since;
      if (theirs.join() === own.join()) {
        if (own.length > before) {
          this.#watching = false;
          this.counts.notified += own.length - before;
        }
        if (own.length > before || waitedMs > QUIET_MS) return;
      }
      if (waitedMs > AGREE_MS) this.#same("events", [theirs.join(), own.join()]);
    }
  }

  #same(who: string, [expected, got]: readonly [string, string]): void {
    if (expected !== got) throw new Mismatch(`the reference's ${who} says ${show(expected)}\nours ${show(got)}`);
  }

  #compareTrees(): void {
    if (this.#watching) return;
    const [theirs, own] = this.#sides.map(({ directory }) => take(directory, { since: this.#since, name: "<side>" }));
    const different = difference(theirs!, own!);
    if (different !== null) throw new Mismatch(`the trees differ, the reference's | ours:\n${different}`);
  }
}
