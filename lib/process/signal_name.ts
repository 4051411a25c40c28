import { ExecError } from "../errors.ts";

/** The signals that a program may be sent, in the order of their numbers on Linux. */
export const SIGNAL_NAMES = [
  "SIGHUP",
  "SIGINT",
  "SIGQUIT",
  "SIGABRT",
  "SIGKILL",
  "SIGUSR1",
  "SIGUSR2",
  "SIGPIPE",
  "SIGALRM",
  "SIGTERM",
  "SIGCONT",
  "SIGSTOP",
  "SIGTSTP",
  "SIGTTIN",
  "SIGTTOU",
  "SIGURG",
  "SIGWINCH",
] as const;

export type SignalName = typeof SIGNAL_NAMES[number];

export function isSignalName(name: string): name is SignalName {
  return (SIGNAL_NAMES as readonly string[]).includes(name);
}

/** @throws {ExecError} `invalidParams`, with all that there are. */
export function checkedSignalName(name: string): SignalName {
  if (isSignalName(name)) return name;
  throw new ExecError("invalidParams", `unknown signal \`${name}\`, expected one of ${SIGNAL_NAMES.join(", ")}`);
}
