import assert from "node:assert/strict";
import { isExempt } from "../../lib/http/no_proxy.ts";

Deno.test("a name in NO_PROXY exempts itself and what is below it, with or without a dot, in any case", () => {
  for (const entry of ["example.org", ".example.org", "EXAMPLE.ORG", " x , example.org ", "org"]) {
    assert.ok(isExempt("example.org", entry), entry);
    assert.ok(isExempt("sub.example.org", entry), entry);
    assert.ok(!isExempt("example.net", entry), entry);
  }
  assert.ok(!isExempt("notexample.org", "example.org"));
  for (
    const entry of ["*.example.org", "example.org:80", "example.org.", "http://example.org", "ample.org", "", ",", "."]
  ) {
    assert.ok(!isExempt("example.org", entry), entry);
  }
});

Deno.test("a star in NO_PROXY exempts names, and no addresses", () => {
  for (const list of ["*", "a,*"]) {
    assert.ok(isExempt("example.org", list));
    assert.ok(!isExempt("127.0.0.1", list));
    assert.ok(!isExempt("[::1]", list));
  }
});

Deno.test("addresses and networks in NO_PROXY exempt addresses", () => {
  for (const entry of ["127.0.0.1", "127.0.0.0/8", "127.0.0.1/32", "126.0.0.0/7", "0.0.0.0/0", "255.0.0.0/0"]) {
    assert.ok(isExempt("127.0.0.1", entry), entry);
  }
  for (
    const entry of [
      "127.0.0.2",
      "127.0.0.2/31/",
      "128.0.0.0/8",
      "127.0.0.1/33",
      "127.0.0.1/",
      "127.0.0.1/x",
      "127.1",
      "::/0",
      "127.*",
    ]
  ) {
    assert.ok(!isExempt("127.0.0.1", entry), entry);
  }
  assert.ok(isExempt("127.0.0.3", "127.0.0.2/31"));
  assert.ok(!isExempt("127.0.0.4", "127.0.0.2/31"));
});

Deno.test("IPv6 addresses in NO_PROXY are written without brackets, in any of their forms", () => {
  for (const entry of ["::1", "0:0::1", "::1/128", "::/0", "::/127"]) assert.ok(isExempt("[::1]", entry), entry);
  for (const entry of ["[::1]", "::2", "::2/127", "1::/16", "::1/129", "0.0.0.0/0"]) {
    assert.ok(!isExempt("[::1]", entry), entry);
  }
  assert.ok(isExempt("[2001:db8:1::5]", "2001:DB8::/32"));
  assert.ok(!isExempt("[2001:db9::]", "2001:db8::/32"));
});
