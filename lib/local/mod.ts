/**
 * This machine as an environment, without a server: what is written for the client's `Environment` runs here as well.
 *
 * @module
 */

export { localEnvironment, type LocalOptions } from "./local_environment.ts";
export type { Environment } from "../client/environment.ts";
export { sandboxDocument } from "../client/sandbox_document.ts";
export type { Clock } from "../clock.ts";
export type { Log } from "../log.ts";
export type { ProcessBackend } from "../process/child.ts";
