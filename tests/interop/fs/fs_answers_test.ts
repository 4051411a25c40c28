import assert from "node:assert/strict";
import { OUR_RULES, REFERENCE_RULES } from "../../wire/differences.ts";
import { sameAnswer, spell } from "./fs_answers.ts";

const options = { directory: "/tmp/side", since: 1_700_000_000_000 };
const result = (value: unknown) => spell(JSON.stringify({ id: 1, result: value }), options);

Deno.test("spell names the side's directory the same for both", () => {
  assert.equal(result({ path: "file:///tmp/side/t/a" }), '{"id":1,"result":{"path":"file://<side>/t/a"}}');
  const error = { id: 1, error: { code: -32600, message: "path `/tmp/side/t` is not a file" } };
  assert.match(spell(JSON.stringify(error), options), /path `<side>\/t` is/);
});

Deno.test("spell hides times of today and keeps the others", () => {
  assert.equal(
    result({ modifiedAtMs: 1_700_000_000_001, createdAtMs: 0 }),
    result({ modifiedAtMs: 1_800_000_000_000, createdAtMs: 0 }),
  );
  assert.notEqual(result({ createdAtMs: 0 }), result({ createdAtMs: 1_800_000_000_000 }));
  assert.notEqual(result({ modifiedAtMs: -1 }), result({ modifiedAtMs: -2 }));
});

Deno.test("spell sorts a directory, and nothing else", () => {
  const [a, b] = [{ fileName: "a", isFile: true }, { isFile: true, fileName: "b" }];
  assert.equal(result({ entries: [a, b] }), result({ entries: [b, a] }));
  assert.notEqual(result({ entries: [a] }), result({ entries: [a, a] }));
  const [x, y] = [{ path: "x", kind: "file" }, { path: "y", kind: "file" }];
  assert.notEqual(result({ entries: [x, y] }), result({ entries: [y, x] }));
});

Deno.test("sameAnswer takes a loop of links for a name that is too long, if that is allowed, and not the other way round", () => {
  const error = (message: string) => spell(JSON.stringify({ id: 1, error: { code: -32603, message } }), options);
  const [long, loop] = [error("Filename too long (os error 36)"), error("Symbolic link loop (os error 40)")];
  assert.equal(sameAnswer(long, loop, OUR_RULES), true);
  assert.equal(sameAnswer(long, loop, REFERENCE_RULES), false);
  assert.equal(sameAnswer(loop, long, OUR_RULES), false);
  assert.equal(sameAnswer(long, error("I/O error (os error 5)"), OUR_RULES), false);
});
