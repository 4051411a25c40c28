import assert from "node:assert/strict";
import fc from "fast-check";
import { isSameOrBelow, normalized, split } from "../lib/native_path.ts";
import { bytesOf, textOf } from "./fs/scratch.ts";

const component = fc.constantFrom("a", "b", ".", "..", "", "...", ".x", "..x", "x.", "-");
const path = fc.array(component, { maxLength: 8 }).map((components) => `/${components.join("/")}`);

/** The same by lists of names. */
function normalizedNames(path: string): string[] {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return names;
}

Deno.test("normalized resolves dots and empty components before any link is looked at", () => {
  fc.assert(fc.property(path, (path) => {
    const result = normalized(bytesOf(path));
    const names = normalizedNames(path);
    assert.equal(textOf(result), `/${names.join("/")}`);
    assert.deepEqual([...split(result)].map(textOf), names);
  }));
});

Deno.test("normalized leaves a normal path as it is, whatever its bytes", () => {
  for (const bytes of [bytesOf("/"), bytesOf("/a"), bytesOf("/..x/.y/z.", [0xff]), bytesOf("/", [0xc3])]) {
    assert.equal(normalized(bytes), bytes);
  }
  assert.deepEqual(normalized(bytesOf("/a/../", [0xff], "//")), bytesOf("/", [0xff]));
});

Deno.test("split gives the first names of a path before it has looked at the others", () => {
  const names = split(new Uint8Array(16 * 1024 * 1024).map((_, at) => at % 2 === 0 ? 0x2f : 0x61));
  assert.equal(textOf(names.next().value!), "a");
  assert.equal(textOf(names.next().value!), "a");
});

Deno.test("isSameOrBelow knows what leads through a path from what only begins alike", () => {
  const cases: [path: string, above: string, expected: boolean][] = [
    ["/a", "/a", true],
    ["/a/b", "/a", true],
    ["/ab", "/a", false],
    ["/a", "/a/b", false],
    ["/a", "/", true],
    ["/", "/", true],
    ["/", "/a", false],
  ];
  for (const [path, above, expected] of cases) {
    assert.equal(isSameOrBelow(bytesOf(path), bytesOf(above)), expected, `${path} ${above}`);
  }
});
