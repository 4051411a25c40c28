import assert from "node:assert/strict";
import { aside, asidesSaid, hint, painter, printable, printJson, say } from "../../lib/cli/say.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { FakeCli } from "./fake_cli.ts";

Deno.test("what is said has our name before it, and a carriage return while the terminal is raw", async () => {
  const cli = new FakeCli();
  await say(cli, "no");
  cli.isRaw = true;
  await say(cli, "no");
  assert.equal(cli.stderr.text, "exec-server: no\nexec-server: no\r\n");
});

Deno.test("what is said aside is written before the end of the program, unless nobody reads it for a second", async () => {
  const clock = new ManualClock();
  const cli = new FakeCli(clock);
  const reader = Promise.withResolvers<void>();
  cli.stderr.blocked = reader.promise;
  aside(say(cli, "given up"));
  const late = asidesSaid(clock);
  clock.advance(1_000);
  await late;
  assert.equal(cli.stderr.text, "");
  const said = asidesSaid(clock);
  reader.resolve();
  await said;
  assert.equal(cli.stderr.text, "exec-server: given up\n");
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("hints are for terminals, and pale there unless NO_COLOR is set", async () => {
  const cli = new FakeCli();
  await hint(cli, "unseen");
  cli.stderr.isTerminal = true;
  await hint(cli, "pale");
  cli.variables["NO_COLOR"] = "1";
  await hint(cli, "plain");
  assert.equal(cli.stderr.text, "\x1b[2mpale\x1b[0m\nplain\n");
});

Deno.test("colours need a terminal that shows them", () => {
  const cli = new FakeCli();
  assert.equal(painter(cli, cli.stdout)("red", "x"), "x");
  cli.stdout.isTerminal = true;
  assert.equal(painter(cli, cli.stdout)("red", "x"), "\x1b[31mx\x1b[0m");
  cli.variables["TERM"] = "dumb";
  assert.equal(painter(cli, cli.stdout)("red", "x"), "x");
});

Deno.test("a name cannot command the terminal, and a pipe gets it as it is", () => {
  const cli = new FakeCli();
  assert.equal(printable(cli.stdout, "a\x1b[2J"), "a\x1b[2J");
  cli.stdout.isTerminal = true;
  assert.equal(printable(cli.stdout, "a\x1b[2J\n\u202eb ü"), "a\\x1b[2J\\x0a\\u202eb ü");
});

Deno.test("what is said cannot command the terminal either, and keeps its lines", async () => {
  const cli = new FakeCli();
  cli.stderr.isTerminal = true;
  await say(cli, "the server said \x1b[2J\nand more");
  assert.equal(cli.stderr.text, "exec-server: the server said \\x1b[2J\nand more\n");
});

Deno.test("JSON is one value on a line", async () => {
  const cli = new FakeCli();
  await printJson(cli, { a: "x\ny" });
  await printJson(cli, [1]);
  assert.equal(cli.stdout.text, '{"a":"x\\ny"}\n[1]\n');
});
