/** `process/start`, and our own start that can ask for more: from parameters to a running program. */

import type { Observer } from "../observer.ts";
import type { TerminalSize } from "../process/child.ts";
import { childEnvironment } from "../process/environment.ts";
import type { Params, Result } from "../protocol/methods.ts";
import { checkSnapshotScope, refuseNetworkControl, startPlace } from "../protocol/start_checks.ts";
import { confineProgram } from "../sandbox/confine_program.ts";
import type { LazySandbox } from "../sandbox/lazy_sandbox.ts";
import type { Session } from "./session.ts";

export interface StarterOptions {
  readonly observer: Observer;
  /** The server's own variables. */
  readonly inherited: () => ReadonlyMap<string, string>;
  readonly sandbox: LazySandbox;
}

/** What only our own start can ask for; it has been checked. */
export interface StartExtras {
  readonly terminalSize?: TerminalSize;
  readonly timeLimitMs?: number;
}

/** Starts a program in a session; a start that takes longer than the request's connection lives is given up. */
export type Starter = (
  params: Params<"process/start">,
  context: { readonly session: Session; readonly signal: AbortSignal },
  extras?: StartExtras,
) => Result<"process/start"> | Promise<Result<"process/start">>;

/** The order of the checks is the reference's. */
export function processStarter({ observer, inherited, sandbox }: StarterOptions): Starter {
  return (params, { session, signal: wanted }, extras) => {
    const { processId, argv, arg0, tty, pipeStdin } = params;
    refuseNetworkControl(params);
    const env = childEnvironment(params.env, params.envPolicy, inherited());
    const { cwd, sandboxType, confinement } = startPlace(params, env, sandbox.isExternal);
    checkSnapshotScope(params);
    const started = session.processes.start({
      processId,
      argv,
      arg0,
      cwd,
      env,
      tty,
      pipeStdin,
      sandboxType,
      ...(confinement === null ? {} : { confine: (signal) => confineProgram(sandbox, confinement, signal) }),
      ...extras,
    }, wanted);
    const answer = (): Result<"process/start"> => {
      observer.processStarted?.({ sessionId: session.id, processId, tty: params.tty });
      return { processId, sandboxType };
    };
    return started === undefined ? answer() : started.then(answer);
  };
}
