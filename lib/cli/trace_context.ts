import type { Telemetry } from "../client/telemetry.ts";
import type { Cli } from "./command.ts";

/** Where whoever started us says what trace it is working on; the W3C's names. */
export const TRACE_VARIABLES = { parent: "TRACEPARENT", state: "TRACESTATE" } as const;

/** Has every request belong to the trace that the environment names, if it names one. */
export function traceOf(cli: Pick<Cli, "env">): Telemetry {
  const traceparent = cli.env(TRACE_VARIABLES.parent);
  if (!traceparent) return {};
  const tracestate = cli.env(TRACE_VARIABLES.state);
  const context = tracestate ? { traceparent, tracestate } : { traceparent };
  return { currentTrace: () => context };
}
