import assert from "node:assert/strict";
import fc from "fast-check";
import { MalformedResponse } from "../../lib/http/failure.ts";
import { emptyLines, endOfHead, MAX_HEADERS, parseHead } from "../../lib/http/response_head.ts";
import { textToBytes } from "../../lib/http/bytes.ts";

function parse(text: string): { status: number; minorVersion: number; headers: string[] } {
  const { status, minorVersion, headers } = parseHead(textToBytes(text));
  return { status, minorVersion, headers: headers.map(([name, value]) => `${name}: ${value}`) };
}

Deno.test("parseHead reads version, status and headers; names get lower case, values lose the blanks around them", () => {
  assert.deepEqual(parse("HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a:\t 2\t \r\nB:\r\nC: a\tb\xe4\r\n\r\n"), {
    status: 200,
    minorVersion: 1,
    headers: ["x-a: 1", "x-a: 2", "b: ", "c: a\tb\xe4"],
  });
  assert.deepEqual(parse("HTTP/1.0 999\nA: 1\n\n"), { status: 999, minorVersion: 0, headers: ["a: 1"] });
  assert.equal(parse("HTTP/1.1 200 \r\n\r\n").status, 200);
  assert.equal(parse("HTTP/1.1 200 \xe4 reason\r\n\r\n").status, 200);
});

Deno.test("parseHead takes as many headers as the reference, and no more", () => {
  const head = (count: number) => `HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(count)}\r\n`;
  assert.equal(parse(head(MAX_HEADERS)).headers.length, 100);
  assert.throws(() => parse(head(MAX_HEADERS + 1)), MalformedResponse);
});

Deno.test("parseHead repairs nothing", () => {
  const lines = [
    "http/1.1 200 OK",
    "HTTP/1.2 200 OK",
    "HTTP/2 200 OK",
    "HTTP/1.1  200 OK",
    "HTTP/1.1 099 OK",
    "HTTP/1.1 1000 OK",
    "HTTP/1.1 20 OK",
    "HTTP/1.1",
    "ICY 200 OK",
    "",
    "HTTP/1.1 200 O\0K",
    ...[
      "a : b",
      "ab",
      ": b",
      "\xe4: b",
      "(: b",
      "a: b\r\n c",
      "a: b\rc",
      "a: b\0c",
      "a: \x7f",
      `${"x".repeat(65_536)}: a`,
    ]
      .map((header) => `HTTP/1.1 200 OK\r\n${header}`),
  ];
  for (const text of lines) assert.throws(() => parse(`${text}\r\n\r\n`), MalformedResponse, text.slice(0, 60));
});

Deno.test("parseHead and endOfHead need no longer for values that are made to take long", () => {
  const blanks = " \t".repeat(100_000);
  const head = `HTTP/1.1 200 OK\r\na: x${blanks}y${blanks}\r\nconnection:${blanks}\r\n\r\n`;
  assert.deepEqual(parse(head).headers, [`a: x${blanks}y`, "connection: "]);
  assert.throws(() => parse(`HTTP/1.1 200 OK\r\na:${blanks}\x01\r\n\r\n`), MalformedResponse);
});

Deno.test("endOfHead finds the first empty line, whatever the lines end with, in any pieces", () => {
  const newline = fc.constantFrom("\r\n", "\n");
  const line = fc.string({ unit: fc.constantFrom("a", ":", " ", "\r", "b"), minLength: 1 }).filter((text) =>
    !text.endsWith("\r") && text !== ""
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(line, newline), { minLength: 1, maxLength: 5 }),
      newline,
      fc.string({ unit: fc.constantFrom("\n", "\r", "x") }),
      fc.nat({ max: 30 }),
      (lines, last, rest, piece) => {
        const head = lines.map((pair) => pair.join("")).join("") + last;
        const all = textToBytes(`###${head}${rest}`);
        let found: number | undefined;
        let looked = 0;
        for (let end = 3; found === undefined && end <= all.length; end += piece + 1) {
          found = endOfHead(all, 3, end, 3 + looked);
          looked = Math.max(0, end - 3 - 1);
        }
        found ??= endOfHead(all, 3, all.length, 3 + looked);
        assert.equal(found, 3 + head.length);
      },
    ),
  );
});

Deno.test("endOfHead does not look at what was not received yet", () => {
  const all = textToBytes("a: b\r\n\r\n");
  assert.equal(endOfHead(all, 0, all.length - 1), undefined);
  assert.equal(endOfHead(all, 0, all.length), all.length);
});

Deno.test("emptyLines counts the empty lines before a response", () => {
  assert.equal(emptyLines(textToBytes("\r\n\n\r\nHTTP"), 0, 9), 5);
  assert.equal(emptyLines(textToBytes("HTTP"), 0, 4), 0);
  assert.equal(emptyLines(textToBytes("\r\n"), 0, 1), 0);
});
