import type { Clock } from "../clock.ts";
import type { TerminalSize } from "../client/process.ts";
import type { OptionSpec } from "./arguments.ts";
import type { Log, LogLevel } from "../log.ts";
import type { CommandArguments } from "./command_arguments.ts";

/** One command of the program. Its table is what `--help`, the completions and the reading of its options are made of. */
export interface Command {
  readonly name: string;
  /** One line for the overview, without a period. */
  readonly summary: string;
  /** What follows the command's name, one line for each form, e.g. `[OPTIONS] -- PROGRAM [ARGUMENT]...`. */
  readonly synopsis: readonly string[];
  /** Paragraphs, each one line however long. */
  readonly description: readonly string[];
  readonly options: readonly CommandOption[];
  readonly operands: readonly Operand[];
  /** From the first operand on nothing is an option: the rest is a command line of its own. */
  readonly trailing?: boolean;
  /** Code → meaning. */
  readonly exitStatus: readonly (readonly [string, string])[];
  /** The code for a failure of ours, a wrong command line included. Default: 1, and 2 for a wrong command line. */
  readonly failureCode?: number;
  /** Variable → meaning. */
  readonly environment?: readonly (readonly [string, string])[];
  /** Command line (without `exec-server`) → what it does. */
  readonly examples: readonly (readonly [string, string])[];
  /** Reads its arguments in a way of its own. @throws {UsageError} */
  read?(argv: readonly string[], cli: Cli): CommandArguments;
  /**
   * @returns The exit code.
   * @throws Whatever it likes: the frame says it in words and ends with the failure code.
   */
  run(args: CommandArguments, cli: Cli): Promise<number>;
}

/** What is known of a command before it is loaded. */
export interface CommandEntry {
  readonly name: string;
  load(): Promise<Command>;
}

/** What the shell may offer for a value. */
export type Completion = "file" | "directory" | "none";

export interface CommandOption extends OptionSpec {
  /** For the page; one line however long. */
  readonly help: string;
  /** It may be given more than once. */
  readonly repeatable?: boolean;
  /** Default: `none`. */
  readonly completion?: Completion;
}

export interface Operand {
  /** As the synopsis calls it. */
  readonly name: string;
  readonly help: string;
  readonly optional?: boolean;
  /** It takes all that is left; only the last one. */
  readonly repeated?: boolean;
  readonly completion?: Completion;
}

/** Where a command reads. */
export interface Input {
  readonly isTerminal: boolean;
  /** What there is, as soon as there is something; null at the end. One call at a time. */
  read(): Promise<Uint8Array<ArrayBuffer> | null>;
}

/** Where a command writes. */
export interface Output {
  readonly isTerminal: boolean;
  /**
   * Writes all of it and waits for that, which is the back-pressure of whoever reads it. Calls may overlap; what they
   * write does not.
   *
   * @throws {ReaderGoneError} If nobody reads it any more.
   */
  write(data: string | Uint8Array): Promise<void>;
}

export type CliSignal = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGQUIT" | "SIGWINCH" | "SIGCONT";

/** Everything outside of it that a command touches besides files, so that a test can be its world. */
export interface Cli {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Writes to standard error, and waits for nobody who reads it. */
  openLog(level: LogLevel): Promise<Log>;
  env(name: string): string | undefined;
  /** The current directory. */
  cwd(): string;
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  time(): number;
  /** Program and arguments that start this very program; its own options follow. */
  readonly self: readonly [string, ...string[]];
  /** Calls `act` at each signal instead of what the signal does by default. Systems without the signal never call. */
  onSignal(signal: CliSignal, act: () => void): Disposable;
  /** Calls `act` with each fault that nobody has caught, instead of ending the program at once. */
  onFault(act: (fault: unknown) => void): Disposable;
  /** Of the terminal that we are on; undefined: there is none, or it does not know. */
  terminalSize(): TerminalSize | undefined;
  /**
   * Hands every key of the terminal on stdin to us as it is, until the end of the scope; then the terminal is as before.
   * The terminal is restored as well when the program ends in another way, as long as it can do anything at all.
   */
  rawMode(): Promise<Disposable>;
  /** Whether raw mode is on: lines on the terminal then need a carriage return. */
  readonly isRaw: boolean;
}

/** Whoever read our output has gone. The frame ends the program quietly, as if by SIGPIPE. */
export class ReaderGoneError extends Error {
  override readonly name = "ReaderGoneError";

  constructor(options?: ErrorOptions) {
    super("nobody reads the output any more", options);
  }
}
