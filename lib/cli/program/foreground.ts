import { ClientError, isTransportClosed } from "../../client/client_error.ts";
import type { ExecProcess, TerminalSize } from "../../client/process.ts";
import { afterLong } from "../../long_timer.ts";
import type { Client } from "../client.ts";
import { type Cli, ReaderGoneError } from "../command.ts";
import { aside, hint, say } from "../say.ts";
import { ending, LINK_LOST_CODE } from "./ending.ts";
import { passInput, type Source } from "./input.ts";
import { copyOutput } from "./output.ts";
import { SignalForwarder } from "./signals.ts";

/** How a program and our own terminal belong together for a while. */
export interface ForegroundOptions {
  readonly cli: Cli;
  /** Whether the program runs on a terminal. */
  readonly tty: boolean;
  /** The size that the program's terminal has now, as far as we know. */
  readonly size?: TerminalSize | undefined;
  /** What it reads; undefined: nothing is read here. */
  readonly source?: Source | undefined;
  /** Whether our own terminal is to hand over every key as it is. */
  readonly raw: boolean;
  /** Whether the server has our extensions. */
  readonly extended: boolean;
  /** Where the program runs. */
  readonly client: Pick<Client, "state">;
  /** A limit that the server keeps, as it was given. */
  readonly timeLimit?: string | undefined;
  /** The same, if it is ours to keep. */
  readonly ownLimit?: { readonly text: string; readonly ms: number } | undefined;
  /** Called if the user left the program: it may be out of reach, and is not to be waited for. */
  readonly onLeft?: () => void;
  /** Aborted with an exit code as its reason: the program is left alone. */
  readonly left?: AbortSignal | undefined;
  /** Says so if the beginning of the output is not there any more. */
  readonly joinsLate?: boolean;
  /** Listens to our signals instead of passing them on. */
  readonly ownSignals?: boolean;
}

/**
 * Joins our input and output to a program, until it has ended or is left.
 *
 * @returns The exit code, after everything that is to be said was said.
 * @throws {ReaderGoneError} Nobody reads our output any more.
 */
export async function attend(process: ExecProcess, options: ForegroundOptions): Promise<number> {
  const { cli, tty, source, raw, extended, client, timeLimit, ownLimit, left } = options;
  const isLinked = () => client.state === "connected";
  const leaving = Promise.withResolvers<{ leftWith: number }>();
  const leave = (code: number) => leaving.resolve({ leftWith: code });
  left?.addEventListener("abort", () => leave(Number(left.reason)), { once: true });
  let overLimit: string | undefined;
  try {
    using scope = new DisposableStack();
    const signals = options.ownSignals === true
      ? undefined
      : scope.use(new SignalForwarder(process, { cli, byName: extended, tty, isLinked, leave }));
    if (ownLimit !== undefined) {
      const timer = afterLong(cli.clock, ownLimit.ms, () => {
        overLimit = ownLimit.text;
        process.terminate().catch((error) => aside(say(cli, `the program could not be killed: ${error.message}`)));
      });
      scope.defer(() => timer.cancel());
    }
    if (raw) scope.use(await cli.rawMode());
    if (tty && extended && cli.stdin.isTerminal) scope.use(followSize(process, options));
    const failed = Promise.withResolvers<never>();
    if (source !== undefined) {
      const keys = raw ? withWayOut(source, () => !isLinked(), () => leave(LINK_LOST_CODE)) : source;
      passOn(keys, process, options).catch(failed.reject);
    }
    const end = await Promise.race([
      copyOutput(process, cli, { ...options, isLinked }),
      leaving.promise,
      failed.promise,
    ]);
    if (typeof end === "object") {
      options.onLeft?.();
      if (!isLinked()) aside(say(cli, "given up; the program may still run"));
      return end.leftWith;
    }
    const { code, words } = ending(await process.exited, {
      overLimit,
      timeLimit,
      asked: signals?.asked ?? new Set<string>(),
    });
    scope.dispose();
    if (words !== undefined) await say(cli, words);
    if (end === "held") await hint(cli, "(something that the program started still runs and keeps its output open)");
    return code;
  } catch (error) {
    if (!isTransportClosed(error)) throw error;
    await say(cli, `the link to the server is lost, and the program may still run: ${(error as Error).message}`);
    return LINK_LOST_CODE;
  }
}

async function passOn(source: Source, process: ExecProcess, { cli, tty, extended }: ForegroundOptions): Promise<void> {
  let last: number | undefined;
  try {
    last = await passInput(source, process);
    if (!tty && !extended) {
      await say(
        cli,
        "the input has ended, which this server cannot tell the program: if it reads to the end, it waits for ever " +
          "(Ctrl-C ends it)",
      );
      return;
    }
    await process.closeStdin();
    // On a terminal the first end-of-file character only hands over an unfinished line.
    if (tty && last !== undefined && last !== LINE_FEED) await process.closeStdin();
  } catch (error) {
    if (error instanceof ReaderGoneError) throw error;
    // A program may close its input, or end, while there is more for it; as with a broken pipe that is its own affair.
    // And a lost link is told where the output is copied.
    if (!(error instanceof ClientError)) throw error;
  }
}

const LINE_FEED = 0x0a;
const CTRL_C = 0x03;

/** On a raw terminal Ctrl-C is no signal: while it would go nowhere, it is ours. */
function withWayOut(source: Source, isCutOff: () => boolean, leave: () => void): Source {
  return async () => {
    const typed = await source();
    if (typed?.includes(CTRL_C) === true && isCutOff()) leave();
    return typed;
  };
}

/** Tells the program's terminal the size of ours whenever they differ. */
function followSize(process: ExecProcess, { cli, size }: ForegroundOptions): Disposable {
  let told = size;
  const tell = (): void => {
    const now = cli.terminalSize();
    if (now === undefined || (now.rows === told?.rows && now.columns === told.columns)) return;
    told = now;
    process.resize(now).catch((error) => {
      // It has ended, or the link is lost: both are told where the output is copied.
      if (!(error instanceof ClientError)) throw error;
    });
  };
  const listener = cli.onSignal("SIGWINCH", tell);
  tell();
  return listener;
}
