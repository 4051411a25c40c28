/** Typed calls to an exec-server over a connection of yours. */
export { Client, type ClientOptions, type ServerEvent } from "./client.ts";
export { connectWebSocket, type WebSocketOptions } from "./connect.ts";
export { ExecError, type ExecErrorKind } from "../errors.ts";
export { PathUri } from "../path_uri.ts";
