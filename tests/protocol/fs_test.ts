import assert from "node:assert/strict";
import fc from "fast-check";
import { toWellFormedJson } from "../../lib/json.ts";
import {
  encodeMissingChanged,
  missingChanged,
  readBlockResult,
  readDirectoryResult,
  readFileResult,
  walkResult,
} from "../../lib/protocol/fs.ts";
import { PathUri } from "../../lib/path_uri.ts";

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

const name = fc.string({ unit: "binary" }).map((text) => text.toWellFormed());
const uri = fc.uint8Array({ maxLength: 20 }).map((bytes) => PathUri.fromNative(new Uint8Array([0x2f, ...bytes])));

Deno.test("lists of names that are joined by hand are what the codecs would have made", () => {
  const entry = fc.record({ fileName: name, isDirectory: fc.boolean(), isFile: fc.boolean() });
  const found = fc.record({ path: uri, kind: fc.constantFrom("file" as const, "directory" as const) });
  const failure = fc.record({ path: uri, message: name });
  fc.assert(
    fc.property(
      fc.array(entry),
      fc.array(found),
      fc.array(failure),
      fc.boolean(),
      (names, entries, errors, truncated) => {
        const listing = { entries: names };
        assert.equal(readDirectoryResult.toJson(listing), toWellFormedJson(readDirectoryResult.encode(listing)));
        const walk = { entries, errors, truncated };
        assert.equal(walkResult.toJson(walk), toWellFormedJson(walkResult.encode(walk)));
      },
    ),
  );
});
