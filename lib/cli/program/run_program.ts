import type { StartOptions } from "../../client/process.ts";
import type { Client } from "../client.ts";
import type { Cli } from "../command.ts";
import { parseDuration } from "../duration.ts";
import { interruption } from "../interruption.ts";
import { attend } from "./foreground.ts";
import type { Source } from "./input.ts";
import { launch, LaunchError, sayLaunchError } from "./launch.ts";

export interface RunProgramOptions {
  readonly cli: Cli;
  readonly open: () => Promise<Client>;
  /** Whether the program gets a terminal. */
  readonly tty: boolean;
  /** Whether it gets our input. */
  readonly reads: boolean;
  /** As it was given; it has been checked. */
  readonly timeout?: string | undefined;
}

/**
 * Runs a program in the foreground, from connecting to its end.
 *
 * @returns The exit code.
 */
export async function runProgram(
  start: StartOptions | ((client: Client) => Promise<StartOptions>),
  options: RunProgramOptions,
): Promise<number> {
  const { cli, tty, reads, timeout } = options;
  const early = reads && !cli.stdin.isTerminal ? new EarlyRead(() => cli.stdin.read()) : undefined;
  await using client = await options.open();
  const extended = await client.hasExtensions();
  const size = tty && extended ? cli.terminalSize() : undefined;
  const limitMs = timeout === undefined ? undefined : parseDuration(timeout);
  // An input that is known to be empty need not be ended by anyone.
  const source = reads && (tty || early?.isEmpty !== true) ? early?.source ?? (() => cli.stdin.read()) : undefined;
  // A signal on the way gives the start up, so that nothing is left running that nobody attends to.
  using giveUp = interruption(cli);
  try {
    await using process = await launch(client, {
      ...(typeof start === "function" ? await start(client) : start),
      ...(tty ? { tty: size ?? true } : { stdin: source !== undefined }),
      ...(extended && limitMs !== undefined ? { timeLimitMs: limitMs } : {}),
      signal: giveUp.signal,
    });
    let isLeft = false;
    try {
      return await attend(process, {
        cli,
        client,
        tty,
        size,
        source,
        raw: tty && cli.stdin.isTerminal,
        extended,
        timeLimit: timeout,
        onLeft: () => isLeft = true,
        ownLimit: extended || limitMs === undefined ? undefined : { text: timeout!, ms: limitMs },
      });
    } finally {
      // Without a link nobody can be asked to end the program, and a link must not be waited for to do so. Nor does who
      // leaves wait for a server that does not answer.
      if (isLeft || client.state !== "connected") await client[Symbol.asyncDispose]();
    }
  } catch (error) {
    if (error instanceof LaunchError) return await sayLaunchError(cli, error);
    throw error;
  }
}

/** Begins to read while the connection is made: an empty input is then known when the program starts. */
class EarlyRead {
  isEmpty = false;
  #first: ReturnType<Source> | undefined;
  readonly #read: Source;

  constructor(read: Source) {
    this.#read = read;
    this.#first = read();
    this.#first.then((piece) => this.isEmpty = piece === null, () => {}); // a failure is met by whoever reads on
  }

  readonly source: Source = () => {
    const first = this.#first ?? this.#read();
    this.#first = undefined;
    return first;
  };
}
