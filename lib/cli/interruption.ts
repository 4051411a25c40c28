import type { Cli, CliSignal } from "./command.ts";

/** The user wants us to end. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
  /** What a shell says of a program that the signal ended. */
  readonly code: number;

  constructor(readonly signal: CliSignal) {
    super(`interrupted by ${signal}`);
    this.code = CODES[signal];
  }
}

const CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as Record<CliSignal, number>;

export interface Interruption extends Disposable {
  /** Aborted with an {@linkcode InterruptedError} by the first SIGINT, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal;
}

/** Turns signals into an end that leaves time to tidy up. The listeners go with the scope. */
export function interruption(cli: Cli): Interruption {
  const aborter = new AbortController();
  const listeners = (Object.keys(CODES) as CliSignal[]).map((name) =>
    cli.onSignal(name, () => aborter.abort(new InterruptedError(name)))
  );
  return {
    signal: aborter.signal,
    [Symbol.dispose]() {
      for (const listener of listeners) listener[Symbol.dispose]();
    },
  };
}
