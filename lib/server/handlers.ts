/** Where names meet deeds: a line of translation per request, no logic. */

import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Params, RequestName, Result } from "../protocol/methods.ts";
import type { Connection } from "../rpc/connection.ts";
import type { Observer } from "../observer.ts";
import type { Handler } from "./handler.ts";
import { lazyHandlers } from "./lazy_handlers.ts";
import { processStarter } from "./process_start.ts";
import type { ServerFiles } from "./server_files.ts";
import type { LazySandbox } from "../sandbox/lazy_sandbox.ts";
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
  readonly sandbox: LazySandbox;
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
const HTTP_METHODS = ["http/request", "execServer/http/holdBody", "execServer/http/cancelBody"] as const;
const EXTENSION_METHODS = [
  "execServer/process/start",
  "execServer/process/closeStdin",
  "execServer/process/resize",
  "execServer/process/signal",
  "execServer/process/holdOutput",
  "execServer/process/status",
  "execServer/process/list",
  "execServer/session/lease",
] as const;
const DISCOVERY_METHODS = ["environmentConfig/read", "capabilityRoots/discoverV1", "capabilities/discoverV2"] as const;

export function handlers(options: HandlerOptions): BuiltHandlers {
  const { sessions, environmentInfo, inherited, files, sandbox, clock, log } = options;
  const start = processStarter(options);
  return {
    ...lazyHandlers(FS_METHODS, async () => {
      const { fsHandlers } = await import("./fs_handlers.ts");
      return fsHandlers({
        files: (context) => files.of(context),
        confine: (demand, check) => files.confine(demand, check),
        keepsSecrets: sandbox.keepsSecrets,
      });
    }),
    ...lazyHandlers(HTTP_METHODS, async () => {
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
        within: (context, demand, act) => files.discoveryWithin(context, demand, act),
        host: () => discoveryHost(inherited()),
        keepsSecrets: sandbox.keepsSecrets,
      });
    }),
    ...lazyHandlers(EXTENSION_METHODS, async () => {
      const { extensionHandlers } = await import("./extension_handlers.ts");
      return extensionHandlers({ start, sessions });
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
    "process/start": start,
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
