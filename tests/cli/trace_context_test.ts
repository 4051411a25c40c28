import assert from "node:assert/strict";
import { traceOf } from "../../lib/cli/trace_context.ts";

function traceIn(variables: Record<string, string>) {
  return traceOf({ env: (name) => variables[name] }).currentTrace?.();
}

Deno.test("requests belong to the trace of the environment, if it names one", () => {
  assert.deepEqual(traceIn({ TRACEPARENT: "00-1-2-01", TRACESTATE: "a=b" }), {
    traceparent: "00-1-2-01",
    tracestate: "a=b",
  });
  assert.deepEqual(traceIn({ TRACEPARENT: "00-1-2-01", TRACESTATE: "" }), { traceparent: "00-1-2-01" });
  assert.equal(traceIn({ TRACEPARENT: "" }), undefined);
  assert.equal(traceIn({ TRACESTATE: "a=b" }), undefined);
});
