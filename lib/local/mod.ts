/**
 * This machine as an environment, without a server: what is written for the client's `Environment` runs here as well.
 *
 * @module
 */

export { localEnvironment, type LocalOptions } from "./local_environment.ts";
