import assert from "node:assert/strict";
import { ending } from "../../../lib/cli/program/ending.ts";

const nobody = new Set<string>();
const exit = { code: 0, signal: null, reason: null, sandboxDenied: false } as const;

Deno.test("the exit code of the program is ours, without words", () => {
  for (const code of [0, 1, 42, 127, 128, 200]) {
    assert.deepEqual(ending({ ...exit, code, reason: "exited" }, { asked: nobody }), { code });
    assert.deepEqual(ending({ ...exit, code }, { asked: nobody }), { code });
  }
});

Deno.test("a code that no shell can have never turns into success", () => {
  assert.deepEqual(ending({ ...exit, code: 256 }, { asked: nobody }), { code: 1 });
  assert.deepEqual(ending({ ...exit, code: 0xc0000005 }, { asked: nobody }), { code: 5 });
  assert.deepEqual(ending({ ...exit, code: -1 }, { asked: nobody }), { code: 255 });
});

Deno.test("a signal is named, unless it was sent from here", () => {
  const killed = { ...exit, code: 137, signal: "SIGKILL", reason: "signaled" } as const;
  assert.deepEqual(ending(killed, { asked: nobody }), { code: 137, words: "the program was ended by SIGKILL" });
  assert.deepEqual(ending(killed, { asked: new Set(["SIGKILL"]) }), { code: 137 });
  // As a terminal has it: the code says nothing.
  assert.equal(ending({ ...killed, code: 1 }, { asked: nobody }).code, 137);
});

Deno.test("what a stock server does not tell is called probable", () => {
  assert.deepEqual(ending({ ...exit, code: 143 }, { asked: nobody }), {
    code: 143,
    words: "exit code 143: the program was probably ended by SIGTERM (this server does not tell)",
  });
  assert.deepEqual(ending({ ...exit, code: 130 }, { asked: new Set(["SIGINT"]) }), { code: 130 });
});

Deno.test("a time limit ends with 124 as with timeout(1), whoever kept it", () => {
  const words = "the program was killed after 2s, its time limit";
  const killed = { ...exit, code: 137, signal: "SIGKILL", reason: "timeLimit" } as const;
  assert.deepEqual(ending(killed, { asked: nobody, timeLimit: "2s" }), { code: 124, words });
  assert.deepEqual(ending({ ...exit, code: 137 }, { asked: nobody, overLimit: "2s" }), { code: 124, words });
  // Somebody else gave the limit.
  assert.equal(ending(killed, { asked: nobody }).words, "the program was killed at its time limit");
});
