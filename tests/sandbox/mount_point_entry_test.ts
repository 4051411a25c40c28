import assert from "node:assert/strict";
import fc from "fast-check";
import { encodeIdentity, encodeIntent, MAX_ENTRY_BYTES, parseEntry } from "../../lib/sandbox/mount_point_entry.ts";
import { stagingName } from "../../lib/sandbox/placeholder.ts";

const name = fc.array(fc.integer({ min: 1, max: 255 }), { minLength: 1, maxLength: 8 })
  .map((bytes) => String.fromCharCode(...bytes))
  .filter((name) => name !== "." && name !== ".." && !name.includes("/"));
const point = fc.record({
  path: fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => `/${names.join("/")}`),
  kind: fc.constantFrom("directory" as const, "file" as const),
}, { noNullPrototype: true });
const identity = fc.record({
  device: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  inode: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  createdMs: fc.integer(),
}, { noNullPrototype: true });

function joined(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

Deno.test("An entry is read as it was written, whatever bytes its path has, and the last identity counts", () => {
  fc.assert(fc.property(point, identity, identity, (point, first, second) => {
    const intent = { ...point, staging: stagingName() };
    const written = encodeIntent(intent);
    assert.deepEqual(parseEntry(written), { ...intent, identity: undefined });
    assert.deepEqual(parseEntry(joined(written, encodeIdentity(first))), { ...intent, identity: first });
    const both = joined(written, encodeIdentity(first), encodeIdentity(second));
    assert.deepEqual(parseEntry(both), { ...intent, identity: second });
    // What was not written to its end has not been said.
    assert.equal(parseEntry(written.subarray(0, -1)), undefined);
    assert.deepEqual(parseEntry(both.subarray(0, -1)), { ...intent, identity: first });
  }));
});

Deno.test("The longest path has room in an entry", () => {
  const path = "/" + "\u0001".repeat(4095);
  const whole = joined(encodeIntent({ path, kind: "file", staging: stagingName() }));
  assert.ok(whole.length < MAX_ENTRY_BYTES - 1000);
  assert.equal(parseEntry(whole)?.path, path);
});

Deno.test("What is no entry of ours is none, so that nothing is ever removed for it", () => {
  const good = { path: "/a/b", kind: "file", staging: stagingName() };
  const read = (line: unknown) => parseEntry(new TextEncoder().encode(JSON.stringify(line) + "\n"));
  assert.notEqual(read(good), undefined);
  const paths = ["", "a", "/", "/a/", "//a", "/a/../b", "/a/./b", "/..", "/a\0", "/\u0100", 1, null];
  for (const path of paths) assert.equal(read({ ...good, path }), undefined, JSON.stringify(path));
  for (const kind of ["link", "", undefined]) assert.equal(read({ ...good, kind }), undefined);
  const stagings = ["b", ".exec-server-", `.exec-server-${"0".repeat(31)}/`, `../${good.staging}`, undefined];
  for (const staging of stagings) assert.equal(read({ ...good, staging }), undefined);
  for (const line of [null, [], "text", 1]) assert.equal(read(line), undefined);
  for (const text of ["", "\n", "{\n", "}\n"]) assert.equal(parseEntry(new TextEncoder().encode(text)), undefined);
  const identities = [{}, { device: 1, inode: "2", createdMs: 3 }, { device: "-1", inode: "2", createdMs: 3 }, null];
  for (const identity of identities) {
    const text = `${JSON.stringify(good)}\n${JSON.stringify(identity)}\n`;
    assert.equal(parseEntry(new TextEncoder().encode(text))?.identity, undefined);
  }
});
