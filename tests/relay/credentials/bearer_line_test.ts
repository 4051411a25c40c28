import assert from "node:assert/strict";
import { bearerLine } from "../../../lib/relay/credentials/bearer_line.ts";
import { closedStdin, Stdin } from "./stdin_rig.ts";

const UNTERMINATED = "expected a newline-terminated registration bearer of at most 16 KiB";
const INVALID = "invalid registration bearer";
const signal = new AbortController().signal;

async function shown(text: string): Promise<string | undefined> {
  const credential = await bearerLine(closedStdin(text).lines);
  const headers = await credential.headers(signal);
  assert.deepEqual(Object.keys(headers), ["authorization"]);
  return headers["authorization"];
}

Deno.test("the bearer line is the token, without its ending", async () => {
  assert.equal(await shown("my-bearer\n"), "Bearer my-bearer");
  assert.equal(await shown("my-bearer\r\n"), "Bearer my-bearer");
  assert.equal(await shown("my-bearer\nmore\n"), "Bearer my-bearer");
  const longest = "a".repeat(16_383);
  assert.equal(await shown(`${longest}\n`), `Bearer ${longest}`);
});

Deno.test("the bearer line needs no end of standard input", async () => {
  const stdin = new Stdin("my-");
  const credential = bearerLine(stdin.lines);
  stdin.write("bearer\n");
  assert.deepEqual(await (await credential).headers(signal), { authorization: "Bearer my-bearer" });
});

Deno.test("a bearer line that is too long or has no newline is refused", async () => {
  for (const text of ["my-bearer", "", `${"a".repeat(16_384)}\n`, "a".repeat(16_384)]) {
    await assert.rejects(shown(text), { name: "CredentialError", message: UNTERMINATED, transient: false });
  }
});

Deno.test("a bearer line that is not one token is refused, and not repeated", async () => {
  const lines = [
    "",
    " my bearer ",
    "Bearer abc",
    "my-bearer\r\r",
    "a\tb",
    "a\x01b",
    "a\x7fb",
    "aäb",
    "a\u00a0b",
    "\ufeffab",
  ];
  for (const text of lines) {
    await assert.rejects(shown(`${text}\n`), { name: "CredentialError", message: INVALID });
  }
  const notUtf8 = new Stdin();
  notUtf8.write(Uint8Array.of(0x61, 0xff, 0x0a));
  await assert.rejects(bearerLine(notUtf8.lines), { message: INVALID });
});
