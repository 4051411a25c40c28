/** A client of exec-servers: programs, files and HTTP requests on their machines, over connections that may be lost. */
import "../dispose_symbols.ts";
export { type ClientOptions, ExecClient } from "./client.ts";
export type { Carrier, ExecutorLookup, OpenedConnection, OpenOptions, ResumeStrategy } from "./carrier.ts";
export type { CallOptions, Calls } from "./calls.ts";
export { ClientError, type ClientErrorKind, type ClientErrorOptions } from "./client_error.ts";
export type { ServerEvent } from "./client_part.ts";
export type { ConnectionState } from "./client_state.ts";
export { commandCarrier } from "./command_carrier.ts";
export { connect, connectCommand, connectRelay } from "./connect.ts";
export { deferredCarrier, Provisioning } from "./deferred.ts";
export type { Environment, EnvironmentStatus } from "./environment.ts";
export {
  type EnvironmentSet,
  type EnvironmentSource,
  environmentSources,
  type SourceOptions,
} from "./environment_sources.ts";
export { Environments, type EnvironmentsOptions } from "./environments.ts";
export type { Fetch, FetchInit } from "./fetch.ts";
export { FileError, type FileErrorOptions } from "./file_error.ts";
export type { DirectoryEntry, FileErrorKind, FileInfo, FileOptions, Files } from "./files.ts";
export type { LazyClientOptions } from "./lazy_client.ts";
export { LazyEnvironment, type LazyEnvironmentOptions } from "./lazy_environment.ts";
export type {
  CollectedOutput,
  EnvironmentPath,
  ExecProcess,
  NetworkDecider,
  NetworkDecision,
  NetworkProtocol,
  NetworkQuestion,
  ProcessEvent,
  ProcessExit,
  ProcessStreamName,
  RunOptions,
  StartOptions,
  TerminalSize,
} from "./process.ts";
export { linesOf, textOf } from "./process_text.ts";
export type { CommandOptions } from "./node/spawn_command.ts";
export { tokenFile } from "./node/token_file.ts";
export type { OpenSocket } from "./platform_socket.ts";
export { relayCarrier } from "./relay_carrier.ts";
export type { RegistryHeaders, RelayCarrierOptions } from "./relay_options.ts";
export { sandboxDocument } from "./sandbox_document.ts";
export type { Attributes, Span, SpanStart, Telemetry } from "./telemetry.ts";
export type { Token } from "./token_text.ts";
export { websocketCarrier, type WebSocketCarrierOptions } from "./websocket_carrier.ts";
export type { WebSocketHeaders } from "./websocket_rules.ts";
export type { Clock, Timer } from "../clock.ts";
export type { Log, LogFields } from "../log.ts";
export type { TraceContext } from "../observer.ts";
export type { EnvironmentInfo } from "../protocol/environment.ts";
export type { ProcessSummary } from "../protocol/extensions.ts";
export type { NotificationName, NotificationParams, Params, RequestName, Result } from "../protocol/methods.ts";
export type { ReadResult } from "../protocol/process.ts";
export type { SandboxContext } from "../protocol/sandbox.ts";
export type { Dial, DialOptions, RelaySocket, SocketEndReason, SocketReceiver } from "../relay/socket/relay_socket.ts";
export type { Connection, ConnectionEnd, Message, Receiver } from "../rpc/connection.ts";
export { PathUri } from "../path_uri.ts";
