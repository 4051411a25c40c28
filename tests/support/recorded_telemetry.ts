import type { Attributes, Span, SpanStart, Telemetry } from "../../lib/client/telemetry.ts";
import type { TraceContext } from "../../lib/observer.ts";

export interface RecordedSpan extends SpanStart {
  readonly context: TraceContext;
  readonly events: { readonly name: string; readonly fields: Attributes }[];
  /** Undefined until the span has ended. */
  endedWith: Attributes | undefined;
}

/** Telemetry that remembers everything. Its spans have the contexts `span-1`, `span-2`, … */
export class RecordedTelemetry implements Telemetry {
  readonly counts: { readonly name: string; readonly labels: Readonly<Record<string, string>> }[] = [];
  readonly spans: RecordedSpan[] = [];
  readonly events: { readonly name: string; readonly fields: Attributes }[] = [];
  current: TraceContext | undefined;

  count(name: string, labels: Readonly<Record<string, string>>): void {
    this.counts.push({ name, labels });
  }

  startSpan(start: SpanStart): Span {
    const context = { traceparent: `span-${this.spans.length + 1}`, tracestate: "" };
    const span: RecordedSpan = { ...start, context, events: [], endedWith: undefined };
    this.spans.push(span);
    return {
      context,
      event: (name, fields) => span.events.push({ name, fields }),
      end: (attributes = {}) => span.endedWith = attributes,
    };
  }

  currentTrace(): TraceContext | undefined {
    return this.current;
  }

  event(name: string, fields: Attributes): void {
    this.events.push({ name, fields });
  }

  named(name: string): RecordedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }
}
