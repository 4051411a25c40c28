import assert from "node:assert/strict";
import fc from "fast-check";
import { shortArgv } from "../../lib/process/process_summary.ts";

const LIMIT = 4096;

Deno.test("shortArgv keeps what fits as it is, and has an ellipsis where it cuts", () => {
  assert.deepEqual(shortArgv(["sh", "-c", "echo é 😀", ""]), ["sh", "-c", "echo é 😀", ""]);
  assert.deepEqual(shortArgv(["x".repeat(LIMIT)]), ["x".repeat(LIMIT)]);
  assert.deepEqual(shortArgv(["x".repeat(LIMIT + 1)]), ["x".repeat(LIMIT - 1) + "…"]);
  assert.deepEqual(shortArgv(["x".repeat(LIMIT - 1), ""]), ["x".repeat(LIMIT - 1) + "…"]);
  assert.deepEqual(shortArgv(["x".repeat(LIMIT - 2), ""]), ["x".repeat(LIMIT - 2), ""]);
  assert.deepEqual(shortArgv(["a", "x".repeat(LIMIT), "b"]), ["a", "x".repeat(LIMIT - 3) + "…"]);
  assert.equal(shortArgv([..."x".repeat(10_000)]).length, LIMIT / 2);
  assert.equal(shortArgv(Array(10_000).fill("")).length, LIMIT);
});

Deno.test("shortArgv is a beginning of what was given, within its limit and with whole characters", () => {
  const argument = fc.string({ unit: "binary", maxLength: 3000 });
  fc.assert(fc.property(fc.array(argument, { maxLength: 6 }), (argv) => {
    const short = shortArgv(argv);
    assert.ok(short.join(" ").length <= LIMIT);
    if (short.length === argv.length && short.every((text, index) => text === argv[index])) return;
    const last = short.at(-1)!;
    assert.ok(last.endsWith("…"));
    assert.deepEqual(short.slice(0, -1), argv.slice(0, short.length - 1));
    assert.ok(argv[short.length - 1]!.startsWith(last.slice(0, -1)));
    assert.ok(last.isWellFormed());
  }));
});
