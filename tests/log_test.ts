import assert from "node:assert/strict";
import { createLog, type LogLevel } from "../lib/log.ts";

function lines(level: LogLevel, value: string): string[] {
  const written: string[] = [];
  const log = createLog(level, (line) => written.push(line.replace(/^\S+ /, "")));
  log.error("failed", { value });
  log.warn("odd", { value });
  log.info("told", { value });
  log.debug("noticed", { value });
  return written;
}

Deno.test("a log writes lines of its level and above, values bare where that is unmistakable", () => {
  assert.deepEqual(lines("warn", "127.0.0.1:80"), [
    "ERROR failed value=127.0.0.1:80\n",
    "WARN odd value=127.0.0.1:80\n",
  ]);
  assert.deepEqual(lines("off", "x"), []);
  assert.equal(lines("debug", "x").length, 4);
});

Deno.test("no value can begin another line, look like another field or speak to a terminal", () => {
  const values = [
    "a\n2026-01-01T00:00:00Z ERROR forged",
    "a b=c",
    "",
    "\x1b[2J",
    "\x9b2J",
    "\x7f",
    "\u2028",
    'say "no"',
  ];
  for (const value of values) {
    const [line] = lines("error", value);
    // deno-lint-ignore no-control-regex -- what must not be there
    assert.match(line!, /^ERROR failed value="[^\x00-\x1f\x7f-\x9f\u2028\u2029]*"\n$/);
    assert.equal(JSON.parse(line!.slice("ERROR failed value=".length)), value);
  }
});
