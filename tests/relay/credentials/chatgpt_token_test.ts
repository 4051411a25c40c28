import assert from "node:assert/strict";
import { chatGptToken } from "../../../lib/relay/credentials/chatgpt_token.ts";
import { closedStdin } from "./stdin_rig.ts";
import { accountClaim, unsignedJwt } from "./tokens.ts";

const URL_OK = "https://registry.example.com/base";
const TOKEN = unsignedJwt({ ...accountClaim("acc-1"), exp: 1 });
const signal = new AbortController().signal;

async function shown(text: string, accountId?: string, url = URL_OK) {
  return await (await chatGptToken(closedStdin(text).lines, url, accountId)).headers(signal);
}

Deno.test("a ChatGPT token of standard input is shown with the account that it names", async () => {
  const expected = { "authorization": `Bearer ${TOKEN}`, "chatgpt-account-id": "acc-1" };
  assert.deepEqual(await shown(`${TOKEN}\n`), expected);
  assert.deepEqual(await shown(`${TOKEN}\r\n`, "acc-1"), expected);
});

Deno.test("a ChatGPT token without an account takes the one of the flag", async () => {
  const token = unsignedJwt({});
  assert.equal((await shown(`${token}\n`, "acc-2"))["chatgpt-account-id"], "acc-2");
  for (const claims of [{}, accountClaim(""), { chatgpt_account_id: "acc-1" }, { "https://api.openai.com/auth": [] }]) {
    await assert.rejects(shown(`${unsignedJwt(claims)}\n`), {
      name: "CredentialError",
      message: "token has no ChatGPT account ID; supply --chatgpt-account-id",
    });
  }
});

Deno.test("an account of the flag that is not the token's is refused", async () => {
  await assert.rejects(shown(`${TOKEN}\n`, "acc-2"), { message: "--chatgpt-account-id does not match the token" });
});

Deno.test("an account that no header can carry is refused", async () => {
  await assert.rejects(shown(`${unsignedJwt(accountClaim("a\nb"))}\n`), {
    message: "the ChatGPT account ID holds characters that an HTTP header cannot carry",
  });
});

Deno.test("a ChatGPT token goes to https only, to an address that holds nothing else", async () => {
  const urls = [
    ...["http://127.0.0.1", "https://user@registry.example.com", "https://:pw@registry.example.com", "nope"],
    ...["https://registry.example.com/#x", "https://registry.example.com/#", "wss://registry.example.com"],
  ];
  for (const url of urls) {
    await assert.rejects(shown(`${TOKEN}\n`, undefined, url), {
      message: "ChatGPT token registry URLs must use HTTPS without userinfo or fragments",
    }, url);
  }
});

Deno.test("what is no JWT is refused, and not repeated", async () => {
  const twoParts = TOKEN.split(".").slice(0, 2).join(".");
  const lines = ["abc", "", twoParts, `${TOKEN}.x`, ` ${TOKEN}`, `${TOKEN} `, "a.!.c", "a.YWJj.c", "a.W10.c", "a..c"];
  for (const line of [...lines, "a".repeat(65_535)]) {
    await assert.rejects(shown(`${line}\n`), { message: "invalid ChatGPT access token" }, line);
  }
});

Deno.test("a ChatGPT token that is too long or has no newline is refused", async () => {
  for (const text of [TOKEN, "", "a".repeat(65_536), `${"a".repeat(65_536)}\n`]) {
    await assert.rejects(shown(text), { message: "expected a bounded, newline-terminated ChatGPT access token" });
  }
});
