import type { Clock, Timer } from "../clock.ts";
import { durationText } from "./duration_text.ts";

/** A limit of the recovery has passed. */
export class RecoveryTimeout extends Error {
  override readonly name = "RecoveryTimeout";

  constructor(readonly owner: "attach_deadline" | "recovery_deadline", ms: number) {
    super(`recovery timed out after ${durationText(ms)}`);
  }
}

export interface DeadlineOptions {
  readonly clock: Clock;
  readonly attachDeadlineMs: number;
  readonly recoveryDeadlineMs: number;
  /** Aborts both. */
  readonly signal: AbortSignal;
}

/** The two limits of one recovery, counted from here. Leaving the scope stops the clocks. */
export class Deadlines implements Disposable {
  readonly #attach = new AbortController();
  readonly #whole = new AbortController();
  readonly #timers: Timer[] = [];
  readonly #outer: AbortSignal;
  readonly #cancel = () => {
    this.#attach.abort(this.#outer.reason);
    this.#whole.abort(this.#outer.reason);
  };

  constructor({ clock, attachDeadlineMs, recoveryDeadlineMs, signal }: DeadlineOptions) {
    this.#outer = signal;
    if (signal.aborted) this.#cancel();
    signal.addEventListener("abort", this.#cancel);
    if (attachDeadlineMs < recoveryDeadlineMs) {
      const late = new RecoveryTimeout("attach_deadline", attachDeadlineMs);
      this.#timers.push(clock.after(attachDeadlineMs, () => this.#attach.abort(late)));
    }
    const late = new RecoveryTimeout("recovery_deadline", recoveryDeadlineMs);
    this.#timers.push(clock.after(recoveryDeadlineMs, () => {
      this.#attach.abort(late);
      this.#whole.abort(late);
    }));
  }

  /** For everything until the session is attached again. */
  get attach(): AbortSignal {
    return this.#attach.signal;
  }

  /** For everything. */
  get whole(): AbortSignal {
    return this.#whole.signal;
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) timer.cancel();
    this.#outer.removeEventListener("abort", this.#cancel);
  }
}
