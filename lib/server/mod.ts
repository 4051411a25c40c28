/** The server for embedding: give it connections, it serves them. */
export { ExecServer, type ServerOptions } from "./serve.ts";
export {
  type DirectOptions,
  type ForwardOptions,
  type RelayOptions,
  type RemoteAuth,
  type RemoteEnvironmentOptions,
  runForward,
  runRemoteEnvironment,
  type ServingOptions,
} from "./remote_environment.ts";
export {
  type AwsChoice,
  type ByteReader,
  type CredentialChoice,
  type CredentialSources,
  registrationSecrets,
  type RemoteCredential,
  remoteCredential,
  remoteSigner,
} from "./remote_credential.ts";
export { removeLeftovers } from "./leftovers.ts";
export type { SandboxChoice } from "../sandbox/sandbox.ts";
export type { BackEndChoice } from "../sandbox/back_end_choice.ts";
export type { Credential, RequestSigner, SignedRequest } from "../relay/credential.ts";
export { type Authorizer } from "./auth.ts";
export { listen, type Listener } from "./listener.ts";
export { type Connection, type ConnectionEnd, type Message, type Receiver } from "../rpc/connection.ts";
export { websocketConnection } from "../rpc/websocket.ts";
export { stdioConnection } from "../rpc/stdio.ts";
export { type Observer, type RequestOutcome, type TraceContext, type TransportName } from "../observer.ts";
export { createLog, type Log, type LogLevel } from "../log.ts";
