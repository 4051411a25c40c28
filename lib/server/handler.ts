import type { Params, RequestName, Result } from "../protocol/methods.ts";
import type { ConnectionScope } from "./connection_scope.ts";
import type { LargeResult } from "./large_result.ts";
import type { Session } from "./session.ts";

/** What a request may know of its surroundings. */
export interface CallContext {
  readonly session: Session;
  /** Aborted when the connection has ended. */
  readonly signal: AbortSignal;
  /** Calls back in the step in which the answer has been handed to the carrier. */
  readonly afterAnswer: (callback: () => void) => void;
  readonly connection: ConnectionScope;
}

/** A result that its handler has made JSON of, because it gave back what it was made from. */
export class EncodedResult {
  constructor(readonly json: string) {}
}

/** What a handler answers. */
export type Answer<M extends RequestName> = Result<M> | LargeResult | EncodedResult;

export type Handler<M extends RequestName> = (
  params: Params<M>,
  context: CallContext,
) => Answer<M> | Promise<Answer<M>>;
