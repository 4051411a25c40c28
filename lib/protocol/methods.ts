/** Every request and every notification of the wire, once: a new method is one line. */

import { type Codec, type Decoded, empty, noParams } from "../codec.ts";
import * as discovery from "./discovery.ts";
import * as environment from "./environment.ts";
import * as extensions from "./extensions.ts";
import * as fs from "./fs.ts";
import * as http from "./http.ts";
import * as network from "./network_proxy.ts";
import * as process from "./process.ts";
import * as session from "./session.ts";

/**
 * @param family What the handshake's refusals call the methods of this kind.
 * @param lane Control requests have a lane of their own when requests run concurrently.
 */
function request<P, R>(family: string, params: Codec<P>, result: Codec<R>, lane: "ordinary" | "control" = "ordinary") {
  return { family, params, result, control: lane === "control" };
}

/** What a client may ask. */
export const REQUESTS = {
  "initialize": request("", session.initializeParams, session.initializeResult),

  "environment/info": request("environment info", noParams, environment.environmentInfo, "control"),
  "environment/status": request("environment status", noParams, environment.environmentStatusResult, "control"),

  "process/start": request("exec", process.startParams, process.startResult),
  "process/read": request("exec", process.readParams, process.readResult),
  "process/write": request("exec", process.writeParams, process.writeResult),
  "process/signal": request("exec", process.signalParams, empty, "control"),
  "process/terminate": request("exec", process.terminateParams, process.terminateResult, "control"),

  "fs/readFile": request("filesystem", fs.readFileParams, fs.readFileResult),
  "fs/open": request("filesystem", fs.openParams, fs.openResult),
  "fs/readBlock": request("filesystem", fs.readBlockParams, fs.readBlockResult),
  "fs/writeBlock": request("filesystem", fs.writeBlockParams, empty),
  "fs/close": request("filesystem", fs.closeParams, empty, "control"),
  "fs/writeFile": request("filesystem", fs.writeFileParams, empty),
  "fs/createDirectory": request("filesystem", fs.createDirectoryParams, empty),
  "fs/getMetadata": request("filesystem", fs.getMetadataParams, fs.getMetadataResult),
  "fs/canonicalize": request("filesystem", fs.canonicalizeParams, fs.canonicalizeResult),
  "fs/readDirectory": request("filesystem", fs.readDirectoryParams, fs.readDirectoryResult),
  "fs/walk": request("filesystem", fs.walkParams, fs.walkResult),
  "fs/remove": request("filesystem", fs.removeParams, empty),
  "fs/copy": request("filesystem", fs.copyParams, empty),
  "fs/watchMissing": request("filesystem", fs.watchMissingParams, fs.watchMissingResult),

  "http/request": request("http", http.httpRequestParams, http.httpRequestResult),

  "environmentConfig/read": request(
    "environment config",
    discovery.environmentConfigReadParams,
    discovery.environmentConfigReadResult,
  ),
  "capabilityRoots/discoverV1": request(
    "capability discovery",
    discovery.discoverRootsParams,
    discovery.discoverRootsResult,
  ),
  "capabilities/discoverV2": request("capability discovery", discovery.discoverV2Params, discovery.discoverV2Result),

  "execServer/process/start": request("exec", extensions.extendedStartParams, process.startResult),
  "execServer/process/closeStdin": request("exec", extensions.closeStdinParams, extensions.closeStdinResult),
  "execServer/process/resize": request("exec", extensions.resizeParams, empty, "control"),
  "execServer/process/signal": request(
    "exec",
    extensions.extendedSignalParams,
    extensions.extendedSignalResult,
    "control",
  ),
  "execServer/process/holdOutput": request("exec", extensions.holdOutputParams, empty, "control"),
  "execServer/process/status": request("exec", extensions.statusParams, extensions.statusResult, "control"),
  "execServer/process/list": request("exec", noParams, extensions.listResult, "control"),
  "execServer/http/holdBody": request("http", extensions.holdBodyParams, extensions.bodyResult, "control"),
  "execServer/http/cancelBody": request("http", extensions.cancelBodyParams, extensions.bodyResult, "control"),
  "execServer/session/lease": request("session", extensions.leaseParams, extensions.leaseResult, "control"),
} as const;

export type RequestName = keyof typeof REQUESTS;
export type Params<M extends RequestName> = Decoded<typeof REQUESTS[M]["params"]>;
export type Result<M extends RequestName> = Decoded<typeof REQUESTS[M]["result"]>;

/** What a server tells without being asked. */
export const NOTIFICATIONS = {
  "process/output": process.outputEvent,
  "process/exited": process.exitedEvent,
  "process/closed": process.closedEvent,
  "http/request/bodyDelta": http.httpBodyDelta,
  "fs/missingChanged": fs.missingChanged,
  "network/policyDecision": network.policyDecision,
} as const;

export type NotificationName = keyof typeof NOTIFICATIONS;
export type NotificationParams<N extends NotificationName> = Decoded<typeof NOTIFICATIONS[N]>;

/** What a server may ask its client. */
export const SERVER_REQUESTS = {
  "network/policyRequest": { params: network.policyRequestParams, result: network.policyRequestResult },
} as const;

export type ServerRequestName = keyof typeof SERVER_REQUESTS;
