import { toRpcError } from "../rpc/error_code.ts";
import { serverError } from "./client_error.ts";

/** What a client would be told of a failure by a server. Faults of our own, which no server tells, stay as they are. */
export function asServerError(error: unknown): unknown {
  const told = toRpcError(error);
  return told === undefined ? error : serverError(told.code, told.message, told.data);
}
