/** Time as an argument, so that a test decides when eighty seconds have passed. */
export interface Clock {
  /** Milliseconds that never run backwards; only differences mean anything. */
  now(): number;
  /** Calls `act` once, `ms` milliseconds from now. */
  after(ms: number, act: () => void): Timer;
}

/** A call that is due; `cancel` is harmless when it has been made already. */
export interface Timer {
  cancel(): void;
}

/** The machine's own clock, for what may be left undone: its timers do not keep the program alive. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, act) {
    const id: unknown = setTimeout(act, ms);
    // A number in browsers, where no program waits for timers.
    if (typeof id === "object") (id as { unref?(): void } | null)?.unref?.();
    return { cancel: () => clearTimeout(id as number) };
  },
};

/** The same for whoever has nothing but the timer to wait for: the program lives as long as one is pending. */
export const waitingClock: Clock = {
  now: () => performance.now(),
  after(ms, act) {
    const id = setTimeout(act, ms);
    return { cancel: () => clearTimeout(id) };
  },
};
