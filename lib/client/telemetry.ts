import type { TraceContext } from "../observer.ts";

/**
 * What an exporter of traces and metrics may hear. Names and labels are those of the reference; nothing is sent
 * anywhere by default. What a method throws is ignored but for the log. Never in it: commands, values of environment
 * variables, contents of files, bodies, tokens, whole URLs.
 */
export interface Telemetry {
  /** Counts one. Today: `exec_server_client_requests_total` with the label `method`, before admission. */
  count?(name: string, labels: Readonly<Record<string, string>>): void;
  /** Begins a span; undefined: it is not recorded. */
  startSpan?(span: SpanStart): Span | undefined;
  /** The trace that a call without one of its own belongs to. */
  currentTrace?(): TraceContext | undefined;
  /** Something that belongs to no call: what recovery does in the background. */
  event?(name: string, fields: Attributes): void;
}

export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanStart {
  /** E.g. `process/start`, `codex.exec_server.remote.connect`. */
  readonly name: string;
  readonly kind: "client" | "server" | "internal";
  readonly attributes: Attributes;
  /** The caller's trace; undefined: a trace of its own. */
  readonly parent: TraceContext | undefined;
}

export interface Span {
  /** Goes with the request that the span is about. */
  readonly context: TraceContext;
  event(name: string, fields: Attributes): void;
  /** @param attributes What is known of the span only now, e.g. its `result`. */
  end(attributes?: Attributes): void;
}
