/** What the probe is asked to try; how it went is 0, or the error number of the step that failed. */
export type Attempt =
  /** Writes {@linkcode PROBE_TEXT} to a file, which is made where there is none. */
  | { readonly do: "write"; readonly path: string }
  | { readonly do: "read"; readonly path: string }
  | { readonly do: "makeDirectory"; readonly path: string }
  /** Makes a file writable for everybody. */
  | { readonly do: "changeMode"; readonly path: string }
  /** Numbers of the system: AF_*, SOCK_*. */
  | { readonly do: "socket"; readonly family: number; readonly type: number }
  /** Asks whether signals may be sent to the process, and sends none. */
  | { readonly do: "signal"; readonly pid: number }
  /** Looks whether the probe is in this namespace of processes, as /proc/self/ns/pid says it. */
  | { readonly do: "joinProcesses"; readonly namespace: string }
  | { readonly do: "ioUring" };

export const PROBE_TEXT = "probe";

/** @returns What the self-test has written as the argument of the probe; undefined: it was not the self-test. */
export function attemptsOf(argument: string | undefined): readonly Attempt[] | undefined {
  if (argument === undefined || !argument.startsWith("[{")) return undefined;
  try {
    return JSON.parse(argument);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
