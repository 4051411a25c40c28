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
