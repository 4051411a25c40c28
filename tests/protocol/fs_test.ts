import assert from "node:assert/strict";
import fc from "fast-check";
import { toWellFormedJson } from "../../lib/json.ts";
import { encodeMissingChanged, missingChanged, readBlockResult, readFileResult } from "../../lib/protocol/fs.ts";

const bytes = fc.uint8Array({ maxLength: 200 }).map((bytes) => new Uint8Array(bytes));

Deno.test("results and notifications that are joined by hand are what the codecs would have made", () => {
  fc.assert(fc.property(bytes, fc.boolean(), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (chunk, eof, watchId) => {
    const file = { dataBase64: chunk };
    assert.equal(readFileResult.toJson(file), toWellFormedJson(readFileResult.encode(file)));
    const block = { chunk, eof };
    assert.equal(readBlockResult.toJson(block), toWellFormedJson(readBlockResult.encode(block)));
    assert.equal(
      encodeMissingChanged(watchId),
      toWellFormedJson({ method: "fs/missingChanged", params: missingChanged.encode({ watchId }) }),
    );
  }));
});
