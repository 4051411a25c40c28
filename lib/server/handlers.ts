/** Where names meet deeds: a line of translation per request, no logic. */

import { ExecError } from "../errors.ts";
import { childEnvironment } from "../process/environment.ts";
import type { Params, RequestName, Result } from "../protocol/methods.ts";
import { restrictsNothing } from "../protocol/sandbox.ts";
import type { PathUri } from "../path_uri.ts";
import type { Connection } from "../rpc/connection.ts";
import type { Observer } from "../observer.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";

export interface CallContext {
  readonly session: Session;
  readonly connection: Connection;
  /** Aborted when the connection has ended. */
  readonly signal: AbortSignal;
}

export interface InitializeContext {
  readonly connection: Connection;
  /** To be called in the same step in which the session is attached. */
  attached(session: Session): void;
}

export type Handler<M extends RequestName> = (
  params: Params<M>,
  context: CallContext,
) => Result<M> | Promise<Result<M>>;

/** The methods that work; a name that is missing answers -32601 after decoding and handshake. */
export type BuiltHandlers =
  & { readonly initialize: (params: Params<"initialize">, context: InitializeContext) => Result<"initialize"> }
  & { readonly [M in Exclude<RequestName, "initialize">]?: Handler<M> };

export interface HandlerOptions {
  readonly sessions: Sessions;
  readonly observer: Observer;
  /** What `initialize` and `environment/info` report. */
  readonly environmentInfo: Result<"environment/info">;
  /** The server's own variables, for `envPolicy`. */
  readonly inherited: () => ReadonlyMap<string, string>;
}

export function handlers(options: HandlerOptions): BuiltHandlers {
  const { sessions, observer, environmentInfo, inherited } = options;
  return {
    "initialize": ({ resumeSessionId }, { connection, attached }) => {
      const session = resumeSessionId === null
        ? sessions.create(connection)
        : sessions.resume(resumeSessionId, connection);
      attached(session);
      return { sessionId: session.id, environmentInfo };
    },
    "environment/info": () => environmentInfo,
    "environment/status": () => ({ status: "ready" }),
    "process/start": (params, { session }) => {
      const { processId, sandbox } = params;
      refuseNetworkControl(params);
      const cwd = nativeCwd(params.cwd);
      refuseSandbox(params);
      checkSnapshotScope(params);
      const started = session.processes.start({
        processId,
        argv: params.argv,
        arg0: params.arg0,
        cwd,
        env: childEnvironment(params.env, params.envPolicy, inherited()),
        tty: params.tty,
        pipeStdin: params.pipeStdin,
        guessSandboxDenied: sandbox !== null,
      });
      const answer = (): Result<"process/start"> => {
        observer.processStarted?.({ sessionId: session.id, processId, tty: params.tty });
        return { processId, sandboxType: sandbox === null ? "none" : SANDBOX_TYPE };
      };
      return started === undefined ? answer() : started.then(answer);
    },
    "process/read": (params, { session, signal }) => session.processes.read(params, signal),
    "process/write": (params, { session, signal }) => {
      if (params.writeId === "") throw new ExecError("invalidParams", "writeId must not be empty");
      const status = session.processes.write(params, signal);
      return typeof status === "string" ? { status } : status.then((status) => ({ status }));
    },
    "process/signal": ({ processId }, { session }) => {
      session.processes.interrupt(processId);
      return {};
    },
    "process/terminate": ({ processId }, { session }) => ({ running: session.processes.terminate(processId) }),
  };
}

/** What a sandbox object makes of `sandboxType`, on this system, even when it restricts nothing. */
const SANDBOX_TYPE = Deno.build.os === "linux"
  ? "linuxSeccomp"
  : Deno.build.os === "darwin"
  ? "macosSeatbelt"
  : "windowsRestrictedToken";

/** Never run unfiltered what asked for a filter. */
function refuseNetworkControl(params: Params<"process/start">): void {
  if (params.networkProxy !== null) {
    throw new ExecError("invalidParams", "networkProxy is not supported by this server");
  }
  if (params.managedNetwork !== null) {
    throw new ExecError("invalidParams", "managedNetwork is not supported by this server");
  }
}

/** Never run unconfined what asked to be confined. */
function refuseSandbox(params: Params<"process/start">): void {
  if (params.sandbox?.windowsSandboxLevel === "mxc") {
    throw new ExecError("invalidParams", "native MXC is unavailable on this executor");
  }
  if (params.sandbox !== null && (params.enforceManagedNetwork || !restrictsNothing(params.sandbox))) {
    throw new ExecError("sandboxUnavailable", "this server has no sandbox yet and does not run the program without it");
  }
}

/**
 * Snapshots are not used (capability `shellSnapshotV2` is false), but a scope that no server takes is refused here too.
 * A missing program is refused before it, by the process table.
 */
function checkSnapshotScope({ argv, shellSnapshot }: Params<"process/start">): void {
  if (shellSnapshot === null || argv.length === 0) return;
  const bytes = new TextEncoder().encode(shellSnapshot.scopeId).length;
  if (bytes < 1 || bytes > 256) {
    throw new ExecError("invalidParams", "shell snapshot scope must be non-empty and at most 256 bytes");
  }
}

function nativeCwd(uri: PathUri): Uint8Array<ArrayBuffer> {
  try {
    return uri.toNative();
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    throw new ExecError(
      "invalidParams",
      `cwd URI \`${uri.text}\` is not valid on this exec-server host: ${error.message}`,
      { cause: error },
    );
  }
}
