/** The numbers of Linux's signals on x86-64 and arm64, from 1. */
const SIGNALS = [
  ..."HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN".split(" "),
  ..."TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS".split(" "),
];
/** The first real-time signal that programs can use; the C library keeps two for itself. */
const SIGRTMIN = 34;

/** How a program ended, as waitpid() tells it. */
export interface WaitStatus {
  /** The program's own, 0 if a signal ended it. */
  readonly code: number;
  /** The number of the signal that ended it; 0: none. */
  readonly signal: number;
}

export function readWaitStatus(status: number): WaitStatus {
  const signal = status & 0x7f;
  return { code: signal === 0 ? (status >> 8) & 0xff : 0, signal };
}

/** `SIGKILL`, `SIGRTMIN+2`; a number without a name is shown as one, `SIG32`. */
export function signalName(signal: number): string {
  const name = SIGNALS[signal - 1];
  if (name !== undefined) return `SIG${name}`;
  if (signal < SIGRTMIN) return `SIG${signal}`;
  return signal === SIGRTMIN ? "SIGRTMIN" : `SIGRTMIN+${signal - SIGRTMIN}`;
}
