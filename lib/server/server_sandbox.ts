/** The sandbox of a server. */
export { LazySandbox as ServerSandbox } from "../sandbox/lazy_sandbox.ts";
