import assert from "node:assert/strict";
import { headerLine, isHeaderName, isHeaderValue, isMethod } from "../../lib/http/request_checks.ts";

Deno.test("a method is any token, in its own case", () => {
  for (const method of ["GET", "get", "M-SEARCH!#$%&'*+.^_`|~"]) assert.ok(isMethod(method), method);
  for (const method of ["", "GE T", "GÉT", "GET\n", "a/b", "a:b"]) assert.ok(!isMethod(method), method);
});

Deno.test("a header's name is a token of at most 65 535 bytes", () => {
  for (const name of ["X", "!#$%&'*+-.^_`|~09", "a".repeat(65_535)]) assert.ok(isHeaderName(name));
  for (const name of ["", "a b", "a:b", "a\tb", "é", "a(b", 'a"b', "a\r\nb", "a".repeat(65_536)]) {
    assert.ok(!isHeaderName(name), name.slice(0, 20));
  }
});

Deno.test("a header's value may hold anything that cannot end its line", () => {
  for (const value of ["", " lead", "trail ", "\ttab\t", "é", "日本", "\x80"]) assert.ok(isHeaderValue(value), value);
  for (const value of ["a\nb", "a\rb", "a\0b", "\x1f", "\x7f"]) assert.ok(!isHeaderValue(value), JSON.stringify(value));
});

Deno.test("a header leaves with its name in lower case and its value in UTF-8", () => {
  assert.deepEqual(headerLine("X-Name", " plain "), ["x-name", " plain "]);
  assert.deepEqual(headerLine("x", "é日"), ["x", "\xc3\xa9\xe6\x97\xa5"]);
});
