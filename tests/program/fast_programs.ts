/**
 * Many short programs whose output is known beforehand. What ends quickly is where output is lost, where descriptors
 * leak and where a terminal's last bytes are dropped.
 */
import assert from "node:assert/strict";
import { RunningServer } from "./running_server.ts";
import { ProcessWatch, type ProgramSpec, type StreamName } from "./process_watch.ts";
import { descriptors, threadCount, zombies } from "./proc.ts";
import { eventually } from "./eventually.ts";
import { steadyDescriptors } from "./steady_descriptors.ts";
import { Random } from "./random.ts";

/** How many programs are under way at the same time. */
const AT_ONCE = 8;

/** A program and all that it will say. */
interface KnownProgram extends ProgramSpec {
  readonly says: Partial<Record<StreamName, string>>;
  readonly exitCode: number;
}

/**
 * Runs `count` programs on one connection and checks each of them; then that the server holds as many descriptors as
 * before and has no zombie.
 */
export async function runFastPrograms(count: number, seed: number): Promise<void> {
  const random = new Random(seed);
  await using server = await RunningServer.start();
  await using client = await server.connect();
  await client.initialize();
  const watch = new ProcessWatch(client);

  // The first programs make the server open what it keeps for good.
  for (const [index, program] of warmUp(random).entries()) await runOne(watch, `warm-up ${index}`, program);
  const before = await steadyDescriptors(server.pid);
  const threadsBefore = threadCount(server.pid);

  let next = 0;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (next < count) {
      const id = `fast ${next++}`;
      await runOne(watch, id, knownProgram(random));
    }
  }));

  assert.deepEqual(watch.strays, []);
  await eventually("the server holds the descriptors that it held before", () => {
    assert.deepEqual(descriptors(server.pid), before);
  });
  assert.deepEqual(zombies(server.pid), []);
  const threads = threadCount(server.pid);
  assert.ok(threads <= threadsBefore + AT_ONCE, `${threadsBefore} threads became ${threads}`);
}

async function runOne(watch: ProcessWatch, id: string, program: KnownProgram): Promise<void> {
  const process = await watch.start(id, program);
  await process.closed.promise;
  watch.forget(process);
  const what = `${id}: ${program.argv.join(" ")}${program.tty ? " on a terminal" : ""}`;
  assert.deepEqual(process.faults, [], what);
  assert.equal(process.exitCode, program.exitCode, what);
  for (const stream of ["stdout", "stderr", "pty"] as const) {
    const [said, expected] = [process.text(stream), program.says[stream] ?? ""];
    // Not equal(): the report of a difference between long texts takes minutes.
    assert.ok(said === expected, `${what}: ${stream} has ${said.length} bytes, expected ${expected.length}`);
  }
}

/** Each kind once on pipes and once on a terminal. */
function warmUp(random: Random): KnownProgram[] {
  return KINDS.flatMap((kind) => [kind(random, false), kind(random, true)]);
}

function knownProgram(random: Random): KnownProgram {
  return random.pick(KINDS)(random, random.below(2) === 0);
}

/** Output on pipes; on a terminal the same with CR LF, everything on one stream. */
function saying(tty: boolean, stdout: string, stderr = ""): Partial<Record<StreamName, string>> {
  return tty ? { pty: (stdout + stderr).replaceAll("\n", "\r\n") } : { stdout, stderr };
}

function silent(_random: Random, tty: boolean): KnownProgram {
  return { argv: ["true"], tty, says: {}, exitCode: 0 };
}

function oneLine(random: Random, tty: boolean): KnownProgram {
  const word = `word-${random.below(1_000_000)}`;
  return { argv: ["echo", word], tty, says: saying(tty, `${word}\n`), exitCode: 0 };
}

/** More than a pipe or a terminal holds at once, and an end right behind it. */
function manyLines(random: Random, tty: boolean): KnownProgram {
  const last = 1 + random.below(4_000);
  const text = Array.from({ length: last }, (_, index) => `${index + 1}\n`).join("");
  return { argv: ["seq", String(last)], tty, says: saying(tty, text), exitCode: 0 };
}

function bothStreams(random: Random, tty: boolean): KnownProgram {
  const exitCode = random.below(256);
  const script = `echo to stdout; echo to stderr >&2; exit ${exitCode}`;
  return { argv: ["sh", "-c", script], tty, says: saying(tty, "to stdout\n", "to stderr\n"), exitCode };
}

/** Killed in the middle of a line; a terminal has no word for it but 1. */
function killedByItself(_random: Random, tty: boolean): KnownProgram {
  const argv = ["sh", "-c", "printf unfinished; kill -9 $$"] as const;
  return { argv, tty, says: saying(tty, "unfinished"), exitCode: tty ? 1 : 137 };
}

/** Zero bytes, which a text would end at. */
function zeros(random: Random, tty: boolean): KnownProgram {
  const count = 1 + random.below(20_000);
  return { argv: ["head", "-c", String(count), "/dev/zero"], tty, says: saying(tty, "\0".repeat(count)), exitCode: 0 };
}

const KINDS: readonly [typeof silent, ...(typeof silent)[]] = [
  silent,
  oneLine,
  manyLines,
  bothStreams,
  killedByItself,
  zeros,
];
