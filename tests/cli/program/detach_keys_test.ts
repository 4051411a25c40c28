import assert from "node:assert/strict";
import { DetachKeys } from "../../../lib/cli/program/detach_keys.ts";

/** What goes on of each piece; `!` is the end. */
function feed(...pieces: string[]): string[] {
  const keys = new DetachKeys();
  return pieces.map((piece) => {
    const { pass, detached } = keys.feed(new TextEncoder().encode(piece));
    return new TextDecoder().decode(pass) + (detached ? "!" : "");
  });
}

Deno.test("DetachKeys finds Ctrl-P Ctrl-Q, also in two pieces, and drops what is typed after them", () => {
  assert.deepEqual(feed("ab\x10\x11cd"), ["ab!"]);
  assert.deepEqual(feed("a\x10", "\x11"), ["a", "!"]);
});

Deno.test("DetachKeys hands on everything else, a Ctrl-P with the key after it", () => {
  assert.deepEqual(feed("a\x10b\x11"), ["a\x10b\x11"]);
  assert.deepEqual(feed("\x10", "x"), ["", "\x10x"]);
  assert.deepEqual(feed("\x10\x10", "\x11"), ["\x10", "!"]);
  assert.deepEqual(feed("\xff"), ["\xff"]);
});
