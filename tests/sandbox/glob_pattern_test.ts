import assert from "node:assert/strict";
import fc from "fast-check";
import { fromText } from "../../lib/sandbox/byte_path.ts";
import { DEEP, matchesName, parsePattern, PatternError, type Segment } from "../../lib/sandbox/glob_pattern.ts";

/** Whether the pattern of one name, without braces, fits a name. */
function fits(pattern: string, name: string): boolean {
  return parsePattern(`/${fromText(pattern)}`).some(([segment]) =>
    segment !== DEEP && segment !== undefined && matchesName(segment, fromText(name))
  );
}

const NAMES: readonly (readonly [pattern: string, fitting: string, others: string])[] = [
  ["*.env", "x.env .env .x.env", "x.envs env x"],
  ["?.env", "x.env é.env", ".env xy.env"],
  ["a*b*c", "abc aXbYc abcbc", "ab acb"],
  ["*", "a .a", ""],
  ["a**b", "ab axxb", "a"],
  ["[xy].env", "x.env y.env", "z.env xy.env"],
  ["[!a].env", "x.env é.env", "a.env .env"],
  ["[^a].env", "x.env", "a.env"],
  ["[a-c]", "a b c", "d -"],
  ["[a-]", "a -", "b"],
  ["[]a]", "] a", "b"],
  ["z[^]]", "zz", "z] z"],
  ["[à-ü]", "é ü", "e ý"],
  ["x.en[v", "x.en[v", "x.env"],
  ["*[b", "a[b", "ab"],
  ["a[[]b", "a[b", "ab"],
  ["\\*", "*", "a"],
  ["\\z\\[a]", "z[a]", "za"],
  ["{x,a}.{env,txt}", "x.env a.txt x.txt", "b.env x.en"],
  ["{x,{s,t*}}", "x s ta", "u"],
  ["a{,b}", "a ab", "b"],
  ["[{]*[}]", "{a}", "a"],
  ["a,b", "a,b", "a"],
];

Deno.test("a pattern fits names", async (t) => {
  for (const [pattern, fitting, others] of NAMES) {
    await t.step(pattern, () => {
      for (const name of fitting.split(" ")) assert.equal(fits(pattern, name), true, name);
      for (const name of others.split(" ")) assert.equal(name !== "" && fits(pattern, name), false, name);
    });
  }
});

Deno.test("a byte that is no UTF-8 is a character", () => {
  assert.equal(matchesName(parsePattern("/?")[0]![0] as Exclude<Segment, typeof DEEP>, "\xe9"), true);
  assert.equal(matchesName(parsePattern("/[!a]x")[0]![0] as Exclude<Segment, typeof DEEP>, "\xffx"), true);
});

const MALFORMED: readonly (readonly [pattern: string, message: string])[] = [
  ["/{a", "a `{` without a `}`; `[{]` stands for the character"],
  ["/a}", "a `}` without a `{`; `[}]` stands for the character"],
  ["/a\\", "nothing follows its last backslash"],
  ["/[a/b]", "`[a/b]` names a slash, which no name has"],
  ["/[z-a]", "`[z-a]` has a range that ends before it begins"],
  [`/${"{a,b}".repeat(9)}`, "its braces stand for more than 256 patterns"],
  [`/{${"a,".repeat(256)}a}`, "its braces stand for more than 256 patterns"],
  [`/${"{".repeat(17)}a${"}".repeat(17)}`, "its braces are nested more than 16 deep"],
  [`/${"a".repeat(4096)}`, "it is longer than 4096 bytes"],
];

Deno.test("a malformed pattern is refused", async (t) => {
  for (const [pattern, message] of MALFORMED) {
    await t.step(message, () => {
      assert.throws(() => parsePattern(pattern), (error) => error instanceof PatternError && error.message === message);
    });
  }
});

Deno.test("dots, doubled and trailing slashes are resolved", () => {
  const names = (pattern: string) => parsePattern(pattern).map((segments) => segments.length);
  assert.deepEqual(names("/a/./b//c/"), [3]);
  assert.deepEqual(names("/a/../b"), [1]);
  assert.deepEqual(names("/../../b"), [1]);
  assert.deepEqual(names("/{a/b,c}/d"), [3, 2]);
  assert.deepEqual(parsePattern("/**")[0], [DEEP]);
});

Deno.test("names fit as the same regular expression says", () => {
  const piece = fc.constantFrom("a", "b", "*", "?", "[ab]", "[!a]", "**");
  const translation: Record<string, string> = { "*": ".*", "**": ".*", "?": ".", "[!a]": "[^a]" };
  fc.assert(
    fc.property(
      fc.array(piece, { minLength: 1, maxLength: 7 }).filter((pieces) => pieces.join("") !== "**"),
      fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 8 }),
      (pieces, name) => {
        const expression = new RegExp(`^${pieces.map((piece) => translation[piece] ?? piece).join("")}$`);
        return fits(pieces.join(""), name) === expression.test(name);
      },
    ),
    { numRuns: 2000 },
  );
});

Deno.test("many asterisks cost no more than the name is long times the pattern", () => {
  assert.equal(fits(`${"*a".repeat(100)}*b`, "a".repeat(255)), false);
});
