import assert from "node:assert/strict";
import { beginningOf, endOf, widthOf } from "../../lib/cli/text_width.ts";

Deno.test("a text's width is that of its characters, wide ones taken for two", () => {
  assert.deepEqual(["", "abc", "é…", "漢字", "😀", "각", "\u1100"].map(widthOf), [0, 3, 2, 4, 2, 2, 2]);
});

Deno.test("a text is cut at its end or at its beginning to what fits", () => {
  assert.deepEqual([0, 1, 2, 3, 9].map((columns) => beginningOf("a漢b", columns)), ["", "a", "a", "a漢", "a漢b"]);
  assert.deepEqual([1, 2, 3, 4].map((columns) => endOf("a漢b", columns)), ["…", "…b", "…b", "a漢b"]);
});
