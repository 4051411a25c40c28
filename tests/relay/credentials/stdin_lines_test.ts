import assert from "node:assert/strict";
import fc from "fast-check";
import { closedStdin, Stdin } from "./stdin_rig.ts";

const LIMIT = 10;

async function readAll(stdin: Stdin): Promise<string[]> {
  const found: string[] = [];
  while (true) {
    const line = await stdin.lines.next(LIMIT);
    found.push(line.kind === "line" ? new TextDecoder().decode(line.bytes) : line.kind);
    if (line.kind !== "line") return found;
  }
}

Deno.test("StdinLines finds the same lines however the bytes come", async () => {
  const texts = fc.array(fc.stringMatching(/^[a-z]{0,10}$/), { maxLength: 5 });
  await fc.assert(fc.asyncProperty(texts, fc.array(fc.nat(20)), async (lines, cuts) => {
    const stdin = new Stdin();
    let rest = lines.map((line) => `${line}\n`).join("");
    for (const cut of cuts) {
      if (cut > 0 && rest !== "") stdin.write(rest.slice(0, cut));
      rest = rest.slice(cut);
    }
    if (rest !== "") stdin.write(rest);
    stdin.close();
    assert.deepEqual(await readAll(stdin), [...lines, "end"]);
  }));
});

Deno.test("a line may be as long as the limit, and is refused before its newline comes if it is longer", async () => {
  assert.deepEqual(await readAll(closedStdin("0123456789\n")), ["0123456789", "end"]);
  const open = new Stdin("0123456789a");
  assert.deepEqual(await open.lines.next(LIMIT), { kind: "too long" });
});

Deno.test("bytes without a newline are told from nothing at the end", async () => {
  assert.deepEqual(await closedStdin("ab").lines.next(LIMIT), { kind: "end", unfinished: true });
  assert.deepEqual(await closedStdin("").lines.next(LIMIT), { kind: "end", unfinished: false });
});

Deno.test("`ended` waits for the end and keeps nothing of what comes until then", async () => {
  const stdin = new Stdin("first\nsecond");
  assert.equal((await stdin.lines.next(LIMIT)).kind, "line");
  let over = false;
  const ended = stdin.lines.ended().then(() => over = true);
  for (let i = 0; i < 20; i++) stdin.write(new Uint8Array(100_000));
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(over, false);
  stdin.close();
  await ended;
});

Deno.test("that standard input cannot be read is told", async () => {
  const stdin = new Stdin();
  const line = stdin.lines.next(LIMIT);
  stdin.fail(new Error("Input/output error"));
  await assert.rejects(line, { message: "Input/output error" });
});
