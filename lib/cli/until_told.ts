import type { Log } from "../log.ts";
import { logObserver } from "../log_observer.ts";
import { noObserver, type Observer } from "../observer.ts";
import type { ByteReader, CredentialSources, RemoteCredential } from "../server/remote_credential.ts";
import type { Cli, CliSignal, Input } from "./command.ts";
import type { RemoteOptions } from "./remote_options.ts";

/** How long what runs may take to leave, and standard error to take the last line: then the program ends anyway. */
const PATIENCE_MS = 1_000;

/** What a remote environment runs with; `A` is a credential or a signer. */
export interface RemoteScope<A> {
  readonly log: Log;
  /** At the level `debug` it writes into the log. */
  readonly observer: Observer;
  readonly auth: A;
  /** Aborted when the program is to end. */
  readonly signal: AbortSignal;
}

/**
 * Runs something until a signal, the end of standard input where that counts, or a failure for good.
 *
 * @param choose What the registry is shown.
 * @returns The exit code; the failure has been said.
 */
export async function untilTold<A>(
  { registry, environmentId, exitOnStdinClose, logLevel }: RemoteOptions,
  cli: Cli,
  choose: (sources: CredentialSources) => Promise<RemoteCredential<A>>,
  run: (scope: RemoteScope<A>) => Promise<void>,
): Promise<number> {
  const log = await cli.openLog(logLevel);
  const over = new AbortController();
  const { signal } = over;
  const told = Promise.withResolvers<void>();
  using _listeners = listen(cli, (name) => {
    log.info("ending", { signal: name });
    told.resolve();
  });
  using _faults = cli.onFault((fault) => told.reject(fault));
  told.promise.catch(() => {}); // it is heard of below, if it still matters
  const work = async (): Promise<void> => {
    const choosing = choose({
      registry,
      environmentId,
      env: (name) => cli.env(name),
      stdin: byteReader(cli.stdin),
      warn: (message) => log.warn(message),
      signal,
      endsWithStdin: exitOnStdinClose,
    });
    // Standard input may say nothing for long.
    const chosen = await Promise.race([choosing, told.promise]);
    if (chosen === undefined) return;
    const { auth, ended } = chosen;
    const observer = logLevel === "debug" ? logObserver(log) : noObserver;
    const running = run({ log, observer, auth, signal });
    await (ended === undefined ? running : Promise.race([running, ended]));
    over.abort(new Error("the program ends"));
    await running;
  };
  const working = work();
  try {
    await Promise.race([working, told.promise]);
    return 0;
  } catch (error) {
    await patiently(cli, say(cli, error));
    return 1;
  } finally {
    over.abort(new Error("the program ends"));
    await patiently(cli, working.catch(() => {})); // it has been said, or comes of the end
  }
}

function listen(cli: Cli, act: (signal: CliSignal) => void): Disposable {
  const listeners = new DisposableStack();
  for (const signal of ["SIGTERM", "SIGINT"] as const) listeners.use(cli.onSignal(signal, () => act(signal)));
  return listeners;
}

/** A mistake of ours shows where it is; everything else is said in one line. */
async function say(cli: Cli, error: unknown): Promise<void> {
  const text = error instanceof Error ? isMistake(error) ? error.stack : error.message : String(error);
  try {
    await cli.stderr.write(`Error: ${text}\n`);
  } catch {
    // Nobody can be told; the exit code still tells.
  }
}

function isMistake(error: Error): boolean {
  return error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
}

async function patiently(cli: Cli, what: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = cli.clock.after(PATIENCE_MS, resolve);
  await Promise.race([what, promise]);
  timer.cancel();
}

/** Hands on what was read in pieces of any size. */
function byteReader(input: Input): ByteReader {
  let rest: Uint8Array<ArrayBuffer> | null = new Uint8Array();
  return {
    async read(buffer) {
      if (rest?.length === 0) rest = await input.read();
      if (rest === null) return null;
      const piece = rest.subarray(0, buffer.length);
      rest = rest.subarray(piece.length);
      buffer.set(piece);
      return piece.length;
    },
  };
}
