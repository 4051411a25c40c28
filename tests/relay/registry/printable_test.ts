import assert from "node:assert/strict";
import { printable } from "../../../lib/relay/registry/printable.ts";

Deno.test("a printable text is on one line and steers no terminal", () => {
  assert.equal(printable("a\x1b[31mb\r\nc\u2028\u202e\0é😀", 99), "a\\u{1b}[31mb\\u{d}\\nc\\u{2028}\\u{202e}\\u{0}é😀");
});

Deno.test("a printable text is cut between characters", () => {
  assert.equal(printable("ab😀c", 3), "ab");
  assert.equal(printable("ab😀c", 4), "ab😀");
});
