/** `process/start`, and our own start that can ask for more: from parameters to a running program. */

import type { Observer } from "../observer.ts";
import type { TerminalSize } from "../process/child.ts";
import { childEnvironment } from "../process/environment.ts";
import type { Params, Result } from "../protocol/methods.ts";
import {
  checkSnapshotScope,
  nativeCwd,
  refuseNetworkControl,
  refuseSandbox,
  SANDBOX_TYPE,
} from "../protocol/start_checks.ts";
import type { Session } from "./session.ts";

export interface StarterOptions {
  readonly observer: Observer;
  /** The server's own variables. */
  readonly inherited: () => ReadonlyMap<string, string>;
}

/** What only our own start can ask for; it has been checked. */
export interface StartExtras {
  readonly terminalSize?: TerminalSize;
  readonly timeLimitMs?: number;
}

/** Starts a program in a session. */
export type Starter = (
  params: Params<"process/start">,
  session: Session,
  extras?: StartExtras,
) => Result<"process/start"> | Promise<Result<"process/start">>;

/** The order of the checks is the reference's. */
export function processStarter({ observer, inherited }: StarterOptions): Starter {
  return (params, session, extras) => {
    const { processId, sandbox } = params;
    refuseNetworkControl(params);
    const cwd = nativeCwd(params.cwd);
    refuseSandbox(params);
    checkSnapshotScope(params);
    const sandboxType = sandbox === null ? "none" : SANDBOX_TYPE;
    const started = session.processes.start({
      processId,
      argv: params.argv,
      arg0: params.arg0,
      cwd,
      env: childEnvironment(params.env, params.envPolicy, inherited()),
      tty: params.tty,
      pipeStdin: params.pipeStdin,
      guessSandboxDenied: sandbox !== null,
      sandboxType,
      ...extras,
    });
    const answer = (): Result<"process/start"> => {
      observer.processStarted?.({ sessionId: session.id, processId, tty: params.tty });
      return { processId, sandboxType };
    };
    return started === undefined ? answer() : started.then(answer);
  };
}
