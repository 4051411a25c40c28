import type { Log } from "../log.ts";
import type { Span, Telemetry } from "./telemetry.ts";

/** Telemetry whose faults are told to the log and to nobody else: no call fails for its sake. */
export function harmlessTelemetry(telemetry: Telemetry, log: Log): Telemetry {
  const guard = <T>(what: string, act: () => T): T | undefined => {
    try {
      return act();
    } catch (error) {
      log.error("the telemetry failed", { what, error: error instanceof Error ? error.stack : String(error) });
      return undefined;
    }
  };
  const guardedSpan = (span: Span): Span => ({
    context: span.context,
    event: (name, fields) => guard("span event", () => span.event(name, fields)),
    end: (attributes) => guard("end of a span", () => span.end(attributes)),
  });
  return {
    count: (name, labels) => guard("count", () => telemetry.count?.(name, labels)),
    startSpan: (start) => {
      const span = guard("start of a span", () => telemetry.startSpan?.(start));
      return span && guardedSpan(span);
    },
    currentTrace: () => guard("current trace", () => telemetry.currentTrace?.()),
    event: (name, fields) => guard("event", () => telemetry.event?.(name, fields)),
  };
}
