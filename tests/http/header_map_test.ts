import assert from "node:assert/strict";
import { HeaderMap } from "../../lib/http/header_map.ts";

function lines(map: HeaderMap): string[] {
  return [...map].map(([name, value]) => `${name}: ${value}`);
}

Deno.test("HeaderMap keeps the values of a name together, where the name stood first", () => {
  const map = HeaderMap.from([["a", "1"], ["b", "2"], ["a", "3"], ["c", "4"], ["b", "5"]]);
  assert.deepEqual(lines(map), ["a: 1", "a: 3", "b: 2", "b: 5", "c: 4"]);
  assert.deepEqual(map.all("b"), ["2", "5"]);
  assert.equal(map.first("b"), "2");
  assert.equal(map.first("d"), undefined);
});

Deno.test("HeaderMap puts the last name in the place of one that is removed", () => {
  const map = HeaderMap.from([["a", "1"], ["b", "2"], ["c", "3"], ["d", "4"], ["d", "5"]]);
  map.remove("b");
  assert.deepEqual(lines(map), ["a: 1", "d: 4", "d: 5", "c: 3"]);
  map.remove("c");
  map.remove("not there");
  assert.deepEqual(lines(map), ["a: 1", "d: 4", "d: 5"]);
});

Deno.test("HeaderMap sets one value instead of all, and adds one only to a name that has none", () => {
  const map = HeaderMap.from([["a", "1"], ["b", "2"], ["a", "3"]]);
  map.set("a", "4");
  map.set("c", "5");
  map.appendUnlessThere("b", "6");
  map.appendUnlessThere("d", "7");
  assert.deepEqual(lines(map), ["a: 4", "b: 2", "c: 5", "d: 7"]);
});

Deno.test("HeaderMap amends the last value of a name", () => {
  const map = HeaderMap.from([["a", "1"], ["a", "2"]]);
  map.amendLast("a", ", 3");
  map.amendLast("b", ", 3");
  assert.deepEqual(lines(map), ["a: 1", "a: 2, 3"]);
});

Deno.test("HeaderMap that was made of another one changes alone", () => {
  const first = HeaderMap.from([["a", "1"]]);
  const second = HeaderMap.from(first);
  second.append("a", "2");
  assert.deepEqual(lines(first), ["a: 1"]);
});
