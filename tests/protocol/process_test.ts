import assert from "node:assert/strict";
import fc from "fast-check";
import { toWellFormedJson } from "../../lib/json.ts";
import {
  closedEvent,
  encodeClosed,
  encodeExited,
  encodeOutput,
  encodeReadResult,
  exitedEvent,
  outputEvent,
  type ReadResult,
  readResult,
} from "../../lib/protocol/process.ts";

const id = fc.string({ unit: "grapheme" }).filter((text) => text.isWellFormed());
const seq = fc.nat();
const stream = fc.constantFrom("stdout" as const, "stderr" as const, "pty" as const);
const bytes = fc.uint8Array({ maxLength: 200 }).map((bytes) => new Uint8Array(bytes));

Deno.test("events that are joined by hand are what the codecs would have made", () => {
  const message = (method: string, params: unknown) => toWellFormedJson({ method, params });
  fc.assert(
    fc.property(id, seq, stream, bytes, fc.integer(), fc.boolean(), (processId, seq, stream, chunk, code, denied) => {
      const idJson = JSON.stringify(processId);
      assert.equal(
        encodeOutput(idJson, seq, stream, chunk),
        message("process/output", outputEvent.encode({ processId, seq, stream, chunk })),
      );
      assert.equal(
        encodeExited(idJson, seq, code, denied),
        message("process/exited", exitedEvent.encode({ processId, seq, exitCode: code, sandboxDenied: denied })),
      );
      assert.equal(encodeClosed(idJson, seq), message("process/closed", closedEvent.encode({ processId, seq })));
    }),
  );
});

Deno.test("a result of process/read that is joined by hand is what the codec would have made", () => {
  const result: fc.Arbitrary<ReadResult> = fc.record({
    chunks: fc.array(fc.record({ seq, stream, bytes }), { maxLength: 4 }),
    nextSeq: seq,
    exited: fc.boolean(),
    exitCode: fc.option(fc.integer()),
    closed: fc.boolean(),
    sandboxDenied: fc.boolean(),
  });
  fc.assert(fc.property(result, fc.option(fc.string()), (result, failure) => {
    assert.equal(encodeReadResult(result), toWellFormedJson(readResult.encode(result)));
    const failed = { ...result, failure };
    assert.equal(encodeReadResult(failed), toWellFormedJson(readResult.encode(failed)));
  }));
});
