import assert from "node:assert/strict";
import { hiddenWord, readHiddenWord } from "../../lib/sandbox/hidden_word.ts";
import { VERSION } from "../../lib/version.ts";

Deno.test("a hidden word names its part to the version that said it", () => {
  assert.deepEqual(readHiddenWord(hiddenWord("__part")), { word: "__part", fault: undefined });
});

Deno.test("another version, which lies where the server's file was, knows what to do about it", () => {
  const { word, fault } = readHiddenWord("__part=0.0.1");
  assert.equal(word, "__part");
  assert.equal(
    fault,
    `the server is version 0.0.1, and the file that it was started from is now ${VERSION}: start the server again`,
  );
});

Deno.test("a word without a version, and no word at all, are nothing that is wrong with a version", () => {
  assert.deepEqual(readHiddenWord("__part"), { word: "__part", fault: undefined });
  assert.deepEqual(readHiddenWord(), { word: "", fault: undefined });
});
