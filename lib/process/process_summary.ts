import { copyString } from "../json.ts";

/** How a program ended. */
export interface ProcessEnd {
  /** After a death by a signal 128 + its number, and on a terminal always 1. */
  readonly exitCode: number;
  /** The name of that signal, e.g. `SIGKILL`; null: it ended by itself. */
  readonly signal: string | null;
  /** `timeLimit`, `terminated`: we killed it; `signaled`: another signal, whoever sent it. */
  readonly reason: "exited" | "signaled" | "timeLimit" | "terminated";
}

/** What a process was started as; never changes. */
export interface ProcessDescription {
  readonly processId: string;
  /** Program and arguments, see {@linkcode shortArgv}. */
  readonly argv: readonly string[];
  readonly tty: boolean;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  /** `none`, or what confines it. */
  readonly sandboxType: string;
}

/** What a process was started as, and how it stands. */
export interface ProcessSummary extends ProcessDescription {
  readonly pid: number;
  /** Whether it runs and something can be written to it. */
  readonly hasStdin: boolean;
  /** Null while it runs. */
  readonly end: ProcessEnd | null;
  /** Whether its streams have ended too. */
  readonly closed: boolean;
}

/** Characters of program and arguments that are remembered, what separates and what stands for the rest included. */
const MAX_ARGV_CHARS = 4096;

/** Copies of as many arguments as may be remembered; an ellipsis stands for the rest. */
export function shortArgv(argv: readonly string[]): readonly string[] {
  const short: string[] = [];
  let room = MAX_ARGV_CHARS;
  for (const [index, argument] of argv.entries()) {
    const roomForMore = index < argv.length - 1 ? 2 : 0;
    if (argument.length + roomForMore > room) {
      // Not in the middle of a character that needs two units.
      const cut = argument.slice(0, room - 1).replace(/[\ud800-\udbff]$/, "");
      short.push(`${copyString(cut)}…`);
      break;
    }
    short.push(copyString(argument));
    room -= argument.length + 1;
  }
  return short;
}
