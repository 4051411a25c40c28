import assert from "node:assert/strict";
import { EMFILE, ENOENT, errnoText, osErrorText } from "../../lib/linux/errno.ts";

Deno.test("errors of the system have the texts of musl, with their number", () => {
  assert.equal(osErrorText(ENOENT), "No such file or directory (os error 2)");
  assert.equal(osErrorText(EMFILE), "No file descriptors available (os error 24)"); // glibc: Too many open files
  assert.equal(osErrorText(5), "I/O error (os error 5)"); // glibc: Input/output error
  assert.equal(osErrorText(40), "Symbolic link loop (os error 40)");
  assert.equal(osErrorText(122), "Quota exceeded (os error 122)");
});

Deno.test("a number that musl does not know has its phrase for that", () => {
  for (const errno of [41, 117, 4095]) assert.equal(errnoText(errno), "No error information");
});
