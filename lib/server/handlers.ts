/** Where names meet deeds: a line of translation per request, no logic. */

import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { Log } from "../log.ts";
import { childEnvironment } from "../process/environment.ts";
import type { Params, RequestName, Result } from "../protocol/methods.ts";
import {
  checkSnapshotScope,
  nativeCwd,
  refuseNetworkControl,
  refuseSandbox,
  SANDBOX_TYPE,
} from "../protocol/start_checks.ts";
import type { Connection } from "../rpc/connection.ts";
import type { Observer } from "../observer.ts";
import type { Handler } from "./handler.ts";
import { lazyHandlers } from "./lazy_handlers.ts";
import type { ServerFiles } from "./server_files.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";

export interface InitializeContext {
  readonly connection: Connection;
  /** To be called in the same step in which the session is attached. */
  attached(session: Session): void;
}

/** The methods that work; a name that is missing answers -32601 after decoding and handshake. */
export type BuiltHandlers =
  & { readonly initialize: (params: Params<"initialize">, context: InitializeContext) => Result<"initialize"> }
  & { readonly [M in Exclude<RequestName, "initialize">]?: Handler<M> };

export interface HandlerOptions {
  readonly sessions: Sessions;
  readonly observer: Observer;
  /** What `initialize` and `environment/info` report. */
  readonly environmentInfo: Result<"environment/info">;
  /** The server's own variables. */
  readonly inherited: () => ReadonlyMap<string, string>;
  readonly files: ServerFiles;
  readonly clock: Clock;
  readonly log: Log;
}

const FS_METHODS = [
  "fs/readFile",
  "fs/open",
  "fs/readBlock",
  "fs/writeBlock",
  "fs/close",
  "fs/writeFile",
  "fs/createDirectory",
  "fs/getMetadata",
  "fs/canonicalize",
  "fs/readDirectory",
  "fs/walk",
  "fs/remove",
  "fs/copy",
  "fs/watchMissing",
] as const;
const DISCOVERY_METHODS = ["environmentConfig/read", "capabilityRoots/discoverV1", "capabilities/discoverV2"] as const;

export function handlers(options: HandlerOptions): BuiltHandlers {
  const { sessions, observer, environmentInfo, inherited, files, clock, log } = options;
  return {
    ...lazyHandlers(FS_METHODS, async () => {
      const { fsHandlers } = await import("./fs_handlers.ts");
      return fsHandlers((context) => files.of(context));
    }),
    ...lazyHandlers(["http/request"], async () => {
      const { httpHandlers } = await import("./http_handlers.ts");
      return httpHandlers({ clock, inherited, log });
    }),
    ...lazyHandlers(DISCOVERY_METHODS, async () => {
      const [{ discoveryHandlers }, { discoveryHost }] = await Promise.all([
        import("./discovery_handlers.ts"),
        import("./discovery_host.ts"),
      ]);
      return discoveryHandlers({
        files: (context) => files.discovery(context),
        host: () => discoveryHost(inherited()),
      });
    }),
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
