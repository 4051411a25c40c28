import assert from "node:assert/strict";
import { byteSize } from "../../lib/cli/byte_size.ts";
import { terminalProgress } from "../../lib/cli/progress.ts";
import { widthOf } from "../../lib/cli/text_width.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { FakeCli } from "./fake_cli.ts";

function scene(columns = 80) {
  const clock = new ManualClock();
  const cli = new FakeCli(clock);
  cli.stderr.isTerminal = true;
  cli.size = { rows: 24, columns };
  const progress = terminalProgress(cli);
  /** What has been written since the last look; writes are made in a later turn. */
  const shown = async () => {
    await Promise.resolve();
    await new Promise((resolve) => queueMicrotask(() => resolve(null)));
    const { text } = cli.stderr;
    cli.stderr.text = "";
    return text;
  };
  return { clock, progress, shown };
}

Deno.test("byteSize names sizes in at most nine characters", () => {
  const sizes = [0, 999, 1023, 1024, 1536, 1_048_575, 1_048_576, 5e9, 2 ** 50, 2 ** 60].map(byteSize);
  assert.deepEqual(sizes, [
    "0 B",
    "999 B",
    "1023 B",
    "1.0 KiB",
    "1.5 KiB",
    "1.0 MiB",
    "1.0 MiB",
    "4.7 GiB",
    "1.0 PiB",
    "1024.0 PiB",
  ]);
});

Deno.test("a bar shows how far a copy is, how fast it goes, and how long it will take", async () => {
  const { clock, progress, shown } = scene();
  progress.begin("file", 10 * 1024 * 1024);
  progress.add(1024 * 1024);
  assert.equal(await shown(), "", "a copy that is over soon shows nothing");
  clock.advance(1000);
  progress.add(4 * 1024 * 1024);
  assert.equal(await shown(), "\rfile  [##########----------]  50%  5.0 MiB  5.0 MiB/s  0:01\x1b[K");
  progress.add(1);
  assert.equal(await shown(), "", "no more than ten pictures a second");
  progress.end();
  assert.equal(await shown(), "\r\x1b[K");
});

Deno.test("what an earlier attempt brought counts for the bar, and not for the speed", async () => {
  const { clock, progress, shown } = scene();
  progress.begin("file", 4 * 1024 * 1024);
  progress.add(2 * 1024 * 1024, true);
  clock.advance(1000);
  progress.add(1024 * 1024);
  assert.match(await shown(), /75% {2}3\.0 MiB {2}1\.0 MiB\/s {2}0:01/);
});

Deno.test("a tree shows bytes and entries, and no line is longer than the terminal", async () => {
  const { clock, progress, shown } = scene(50);
  progress.begin(`a/long/${"name/".repeat(30)}\x1b[2J`);
  progress.add(2048);
  clock.advance(2000);
  progress.entry();
  const line = (await shown()).slice(1, -3);
  assert.equal(line.length, 49);
  assert.match(line, /^….*\\x1b\[2J {2}2\.0 KiB {2}1 entries {2}1\.0 KiB\/s$/);
});

Deno.test("names of wide characters are cut to the terminal's columns, and between characters", async () => {
  for (const columns of [1, 2, 3, 10, 11, 40, 41]) {
    const { clock, progress, shown } = scene(columns);
    progress.begin("漢字😀".repeat(20), 1024);
    clock.advance(1000);
    progress.add(512);
    const line = (await shown()).slice(1, -3);
    assert.ok(line.isWellFormed(), `${columns} columns: no half of a character`);
    assert.ok(widthOf(line) < columns, `${columns} columns: ${line}`);
  }
});

Deno.test("without a terminal there is no bar", async () => {
  const cli = new FakeCli(new ManualClock());
  const progress = terminalProgress(cli);
  progress.begin("file", 1);
  progress.add(1);
  progress.end();
  await Promise.resolve();
  assert.equal(cli.stderr.text, "");
});
