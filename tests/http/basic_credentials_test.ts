import assert from "node:assert/strict";
import { basicCredentials } from "../../lib/http/basic_credentials.ts";

function credentials(userinfo: string): string | undefined {
  return basicCredentials(new URL(`http://${userinfo}@h/`));
}

Deno.test("user and password of a URL become Basic credentials", () => {
  assert.equal(basicCredentials(new URL("http://h/")), undefined);
  assert.equal(credentials(""), undefined);
  assert.equal(credentials(":"), undefined);
  assert.equal(credentials("u:p"), `Basic ${btoa("u:p")}`);
  assert.equal(credentials("u"), `Basic ${btoa("u:")}`);
  assert.equal(credentials(":p"), `Basic ${btoa(":p")}`);
  assert.equal(credentials("a:b:c"), `Basic ${btoa("a:b:c")}`);
});

Deno.test("percent-encoding in a URL's user and password is undone, unless it encodes no text", () => {
  assert.equal(credentials("us%40er:p%3Aw%20d"), `Basic ${btoa("us@er:p:w d")}`);
  assert.equal(credentials("%C3%A9:b"), `Basic ${btoa("\xc3\xa9:b")}`);
  assert.equal(credentials("u:%zz"), `Basic ${btoa("u:%zz")}`);
  assert.equal(credentials("%ff:b"), undefined);
});
