import type { ProcessExit } from "../../client/process.ts";

/** As timeout(1) has it. */
export const TIME_LIMIT_CODE = 124;
export const LINK_LOST_CODE = 255;
const SIGNAL_BASE = 128;

/** Numbers that are the same on Linux, macOS and the BSDs; others come as part of the exit code. */
const SIGNAL_NUMBERS: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
};

/** How our command ends for a program that ended so. */
export interface Ending {
  readonly code: number;
  /** What to say of it; undefined: the code says it all. */
  readonly words?: string;
}

export interface EndingContext {
  /** How the limit was given, e.g. `30s`, if our own clock killed the program for it. */
  readonly overLimit?: string | undefined;
  readonly timeLimit?: string | undefined;
  /** Signals that were asked for here: whoever did that knows. */
  readonly asked: ReadonlySet<string>;
}

export function ending(exit: ProcessExit, { overLimit, timeLimit, asked }: EndingContext): Ending {
  if (exit.reason === "timeLimit" || overLimit !== undefined) {
    const limit = overLimit ?? timeLimit;
    return {
      code: TIME_LIMIT_CODE,
      words: limit === undefined
        ? "the program was killed at its time limit"
        : `the program was killed after ${limit}, its time limit`,
    };
  }
  if (exit.signal !== null) {
    const code = exit.code > SIGNAL_BASE ? exit.code : SIGNAL_BASE + (SIGNAL_NUMBERS[exit.signal] ?? 0);
    return asked.has(exit.signal) ? { code } : { code, words: `the program was ended by ${exit.signal}` };
  }
  const code = shellCode(exit.code);
  const signal = exit.reason === null ? signalOf(code) : undefined;
  if (signal === undefined || asked.has(signal)) return { code };
  return { code, words: `exit code ${code}: the program was probably ended by ${signal} (this server does not tell)` };
}

/** The system keeps eight bits of an exit code; what has more, as on Windows, must not turn into a success. */
function shellCode(code: number): number {
  if (code >= 0 && code <= 255) return code;
  return code & 0xff || 1;
}

function signalOf(code: number): string | undefined {
  return Object.keys(SIGNAL_NUMBERS).find((name) => SIGNAL_BASE + SIGNAL_NUMBERS[name]! === code);
}
