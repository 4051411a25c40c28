/**
 * What is said on the wire, without any I/O: names, shapes, and the codecs between JSON and values.
 *
 * @module
 */

export type { Codec, Decoded } from "../codec.ts";
export type { Json } from "../json.ts";
export {
  type NotificationName,
  type NotificationParams,
  NOTIFICATIONS,
  type Params,
  type RequestName,
  REQUESTS,
  type Result,
  SERVER_REQUESTS,
  type ServerRequestName,
} from "./methods.ts";
export { restrictsNothing, type SandboxContext } from "./sandbox.ts";
