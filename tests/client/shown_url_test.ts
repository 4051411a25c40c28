import assert from "node:assert/strict";
import { shownUrl } from "../../lib/client/shown_url.ts";

Deno.test("what is shown of a rendezvous URL ends before its query and names no user", () => {
  const cases: readonly [string, string][] = [
    ["wss://rendezvous.example/v1/x?sig=secret#part", "wss://rendezvous.example/v1/x"],
    ["ws://127.0.0.1:4711", "ws://127.0.0.1:4711"],
    ["ws://127.0.0.1:4711#secret", "ws://127.0.0.1:4711"],
    ["wss://user:secret@host/a@b?c", "wss://host/a@b"],
    ["wss://host/a b\u001b[2J?x", "wss://host/a%20b%1B[2J"],
    ["ws://ho\nst/?secret", "ws://host/"],
    ["secret", "(no URL)"],
    ["", "(no URL)"],
  ];
  for (const [url, shown] of cases) assert.equal(shownUrl(url), shown, url);
});
