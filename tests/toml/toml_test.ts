import assert from "node:assert/strict";
import fc from "fast-check";
import { printToml } from "../../lib/toml/print.ts";
import { projectToml } from "../../lib/toml/project.ts";
import { readToml, TomlError } from "../../lib/toml/read.ts";
import { TomlLiteral, type TomlTable, type TomlValue } from "../../lib/toml/value.ts";
import { readCases } from "../support/cases.ts";

/** What the reference made of a document; null: it refused it. */
interface Case {
  readonly document: string;
  readonly printed: string | null;
  readonly keys?: readonly string[];
}

Deno.test("TOML is read and printed as the reference does", () => {
  for (const { document, printed, keys = [] } of readCases<Case>("cases/toml.jsonl", import.meta.url)) {
    if (printed === null) assert.throws(() => readToml(document), TomlError, JSON.stringify(document));
    else {
      const left = projectToml(readToml(document), keys.map((key) => [key]));
      assert.equal(left && printToml(left), printed, JSON.stringify(document));
    }
  }
});

const key = fc.oneof(fc.stringMatching(/^[a-z0-9_-]{1,3}$/), fc.string({ unit: "grapheme-ascii", maxLength: 4 }));
const literal = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => new TomlLiteral("integer", String(value))),
  fc.boolean().map((value) => new TomlLiteral("boolean", String(value))),
  fc.constantFrom("1979-05-27T07:32:00Z", "1979-05-27T07:32:00.123456789+00:00", "1979-05-27", "07:32:00.5")
    .map((text) => new TomlLiteral("datetime", text)),
  fc.constantFrom("1.0", "-0.0", "0.1", "inf", "nan", "123456789012345680.0").map((text) =>
    new TomlLiteral("float", text)
  ),
);
const { table } = fc.letrec<{ table: TomlTable; value: TomlValue; list: readonly TomlValue[] }>((tie) => ({
  table: fc.array(fc.tuple(key, tie("value")), { maxLength: 4 }).map((pairs) => new Map(pairs)),
  list: fc.array(tie("value"), { maxLength: 3 }),
  value: fc.oneof({ maxDepth: 3 }, literal, fc.string({ unit: "grapheme" }), tie("list"), tie("table")),
}));

Deno.test("a printed document reads back as what was printed", () => {
  fc.assert(
    fc.property(table, (document) => {
      const printed = printToml(document);
      assert.equal(printToml(readToml(printed)), printed);
      assert.deepEqual(unordered(readToml(printed)), unordered(document));
    }),
    { numRuns: 300 },
  );
});

/** Tables come behind plain values when they are printed, so that only the order of those among themselves stays. */
function unordered(value: TomlValue): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [`:${key}`, unordered(item)]));
  return Array.isArray(value) ? value.map(unordered) : value;
}

Deno.test("a projection keeps what was asked for and nothing else", () => {
  const paths = fc.array(fc.array(key, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(table, paths, (document, paths) => {
      const left = projectToml(document, paths) ?? new Map();
      for (const path of paths) assert.deepEqual(at(left, path), at(document, path));
      for (const key of left.keys()) assert.ok(paths.some(([first]) => first === key));
      assert.deepEqual(projectToml(left, paths) ?? new Map(), left);
    }),
    { numRuns: 300 },
  );
});

/** What is there; where a plain value is in the way, that. */
function at(table: TomlTable, path: readonly string[]): TomlValue | undefined {
  let value: TomlValue | undefined = table;
  for (const key of path) {
    if (!(value instanceof Map)) return value;
    value = (value as TomlTable).get(key);
  }
  return value;
}

Deno.test("a defect is told with its place and without the text of the document", () => {
  for (
    const [document, line, column] of [["a = 1\nb = foo\n", 2, 5], ["[a]\n[a]\n", 2, 2], ["a = 1 b = 2", 1, 7]] as const
  ) {
    assert.throws(() => readToml(document), (error: unknown) => {
      assert.ok(error instanceof TomlError);
      assert.deepEqual([error.line, error.column], [line, column]);
      assert.ok(!error.message.includes("foo"));
      return true;
    }, `${document} at ${line}:${column}`);
  }
});

Deno.test("a string that is too long for the parser is refused, not a crash", () => {
  assert.equal(readToml(`a = "${"x".repeat(50_000)}"`).get("a"), "x".repeat(50_000));
  for (const quote of ['"', "'", '"""']) {
    assert.throws(() => readToml(`a = ${quote}${"x".repeat(1_000_000)}${quote}`), {
      message: "1:1: the document has a string that is too long",
    });
  }
});

Deno.test("numbers beyond 64 bits are refused, not rounded", () => {
  assert.throws(() => readToml("a = 9223372036854775808"), { message: "1:5: u64 value was too large" });
  assert.throws(() => readToml("a = 1e400"), { message: "1:5: floating-point number overflowed" });
  assert.equal(
    printToml(readToml("a = 9223372036854775807\nb = 1e300")).length,
    "a = 9223372036854775807\nb = 1".length + 303,
  );
});
