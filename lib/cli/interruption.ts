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

/**
 * Turns the first signal into an end that leaves time to tidy up. The next one ends the program at once, as does every
 * one after the scope.
 */
export function interruption(cli: Cli): Interruption {
  const aborter = new AbortController();
  const scope = new DisposableStack();
  for (const name of Object.keys(CODES) as CliSignal[]) {
    scope.use(cli.onSignal(name, () => {
      scope.dispose();
      aborter.abort(new InterruptedError(name));
    }));
  }
  return { signal: aborter.signal, [Symbol.dispose]: () => scope.dispose() };
}
