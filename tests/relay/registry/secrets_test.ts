import assert from "node:assert/strict";
import fc from "fast-check";
import { Secrets } from "../../../lib/relay/registry/secrets.ts";

/** As another program might repeat a text, with something around it. */
const WAYS: readonly ((text: string) => string)[] = [
  (text) => `Bearer ${text} is wrong`,
  (text) => JSON.stringify({ got: text }),
  (text) => JSON.stringify({ got: text }).replaceAll("/", "\\/"),
  (text) => `https://registry.example/?token=${encodeURIComponent(text)}&more`,
  (text) => `?token=${encodeURIComponent(text).replaceAll(/%../g, (escaped) => escaped.toLowerCase())}`,
  ...["", "x", "xy", "Bearer "].flatMap((before) =>
    ["", "z"].flatMap((behind) =>
      (["base64", "base64url"] as const).map((alphabet) => (text: string) =>
        `-- ${new TextEncoder().encode(before + text + behind).toBase64({ alphabet })} --`
      )
    )
  ),
];

Deno.test("Secrets are found and hidden in whatever way they are repeated", () => {
  const printableAscii = fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((c) => String.fromCharCode(c)),
    minLength: 8,
  });
  fc.assert(fc.property(printableAscii, fc.constantFrom(...WAYS), (secret, way) => {
    const secrets = new Secrets({ "Authorization": `Bearer ${secret}` });
    const text = way(secret);
    assert.ok(secrets.occurIn(text));
    const hidden = secrets.hide(text);
    assert.ok(hidden.includes("[credential]") && !secrets.occurIn(hidden.replaceAll("[credential]", "\0")));
  }));
});

Deno.test("Secrets are the values of all headers but those that help to find a fault, and short ones", () => {
  const secrets = new Secrets({
    "x-registry-key": "key of mine",
    "x-amz-date": "20150830T123600Z",
    "chatgpt-account-id": "account-1",
    "authorization": "Bearer e",
    "x-openai-fedramp": "true",
  });
  const text = "key of mine 20150830T123600Z account-1 e true";
  assert.equal(secrets.hide(text), text.replace("key of mine", "[credential]"));
  assert.ok(!secrets.occurIn("20150830T123600Z account-1 e true"));
});
