import assert from "node:assert/strict";
import { concerns, watchedNames } from "../../lib/fs/watched_names.ts";

const plain = (names: ReturnType<typeof watchedNames>) => names && [...names].map(([path, inIt]) => [path, [...inIt]]);

Deno.test("watchedNames() gives the next names of all ways, directories above first", () => {
  assert.deepEqual(plain(watchedNames(["/a/b/c", "/a/d", "/a/b/e"])), [
    ["/", ["a"]],
    ["/a", ["b", "d"]],
    ["/a/b", ["c", "e"]],
  ]);
});

Deno.test("watchedNames() has nothing to look at for the root, and for nothing", () => {
  assert.deepEqual(plain(watchedNames(["/"])), []);
  assert.deepEqual(plain(watchedNames([])), []);
});

Deno.test("watchedNames() begins below a root of more than one character", () => {
  assert.deepEqual(plain(watchedNames(["C:\\a\\b"], "\\", () => 3)), [["C:\\", ["a"]], ["C:\\a", ["b"]]]);
});

Deno.test("watchedNames() counts up to 64 directories", () => {
  const below = (count: number) => "/d".repeat(count);
  assert.equal(watchedNames([below(64)])?.size, 64);
  assert.equal(watchedNames([below(65)]), null);
  assert.equal(watchedNames([below(64), below(63) + "/e"])?.size, 64);
});

Deno.test("a watched name may be what differs in case or is not ASCII, and nothing else", () => {
  const latin1 = (text: string) => String.fromCharCode(...new TextEncoder().encode(text));
  const cases: readonly (readonly [watched: string, name: string, concerned: boolean])[] = [
    ["ab", "ab", true],
    ["ab", "aB", true],
    ["AB", "ab", true],
    ["ab", "abc", false],
    ["[", "{", false],
    ["k", latin1("\u212a"), true],
    ["ab", "\xff", true],
    [latin1("\u00e9"), "a", true],
  ];
  for (const [watched, name, concerned] of cases) {
    assert.equal(concerns(new Set(["other", watched]), name), concerned, `${watched} ${name}`);
  }
});
