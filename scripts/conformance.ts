/**
 * Plays the recorded conversations against any server and reports what differs.
 *
 *     deno task conformance                                          our own program
 *     deno task conformance -- --command '/path/to/server args'      a program; options are appended to the command
 *     deno task conformance -- --bare --command …                    … in an empty environment
 *     deno task conformance -- --url ws://127.0.0.1:PORT             one that runs already, on this machine
 */
import { OUR_RULES, REFERENCE_RULES } from "../tests/wire/differences.ts";
import { isSlow, play } from "../tests/wire/play.ts";
import { whyNotPlayed } from "../tests/wire/requirements.ts";
import { ownProgram, splitCommand, type Target } from "../tests/wire/target.ts";
import type { Transcript } from "../tests/wire/lines.ts";
import { readTranscripts } from "../tests/wire/transcript.ts";

const USAGE = `usage: conformance [--url ws://IP:PORT | --command 'PROGRAM ARGS…'] [options]
  PROGRAM and paths in ARGS are absolute: the server starts in a directory of its own
  --bare          the command gets no variables but those that a recording shows, such as HOME where it is about a home
  --filter TEXT   only the recordings whose name contains TEXT
  --slow          also those that take 60 to 160 seconds
  --strict        exactly the reference: no deliberate difference is allowed
  --jobs N        how many to play at once (default 4; the slow ones all run beside them)`;

interface Options {
  readonly target: Target;
  readonly filter: string;
  readonly slow: boolean;
  readonly strict: boolean;
  readonly jobs: number;
}

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

function parseOptions(args: readonly string[]): Options {
  let target: Target | null = null;
  let [filter, slow, strict, bare, jobs] = ["", false, false, false, 4];
  const rest = args.filter((arg) => arg !== "--");
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const value = () => rest.shift() ?? fail(`${arg} needs a value`);
    if (arg === "--slow") slow = true;
    else if (arg === "--strict") strict = true;
    else if (arg === "--bare") bare = true;
    else if (arg === "--filter") filter = value();
    else if (arg === "--jobs") jobs = Number(value());
    else if (arg === "--url" && target === null) target = { kind: "url", url: value() };
    else if (arg === "--command" && target === null) target = { kind: "command", words: splitCommand(value()) };
    else fail(`unexpected argument '${arg}'`);
  }
  if (!Number.isInteger(jobs) || jobs < 1) fail("--jobs needs an integer of at least 1");
  if (target?.kind === "url" && !URL.canParse(target.url)) fail(`--url: '${target.url}' is not a URL`);
  if (bare && target?.kind === "url") fail("--bare is for a server that is started here, not for one that runs");
  const server = target ?? ownProgram();
  return { target: server.kind === "command" ? { ...server, isBare: bare } : server, filter, slow, strict, jobs };
}

function fail(message: string): never {
  console.error(`error: ${message}\n\n${USAGE}`);
  Deno.exit(2);
}

async function run({ target, filter, slow, strict, jobs }: Options): Promise<Counts> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const rules = strict ? REFERENCE_RULES : OUR_RULES;
  const playable: Transcript[] = [];
  for (const transcript of readTranscripts().filter(({ meta }) => meta.scenario.includes(filter))) {
    const reason = isSlow(transcript.meta) && !slow
      ? "takes minutes; --slow plays it"
      : whyNotPlayed(transcript, target);
    if (reason === null) playable.push(transcript);
    else {
      counts.skipped++;
      console.log(`skip ${transcript.meta.scenario}: ${reason}`);
    }
  }
  const one = async (transcript: Transcript) => {
    const since = performance.now();
    try {
      const runs = await play(transcript, target, rules);
      counts.passed++;
      const again = runs === 1 ? "" : `, timing came out at run ${runs}`;
      console.log(`ok   ${transcript.meta.scenario} (${Math.round(performance.now() - since)} ms${again})`);
    } catch (error) {
      counts.failed++;
      console.log(`FAIL ${transcript.meta.scenario}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const quick = playable.filter(({ meta }) => !isSlow(meta));
  const worker = async () => {
    for (let next = quick.shift(); next !== undefined; next = quick.shift()) await one(next);
  };
  await Promise.all([
    ...playable.filter(({ meta }) => isSlow(meta)).map(one),
    ...Array.from({ length: jobs }, worker),
  ]);
  return counts;
}

if (import.meta.main) {
  const { passed, failed, skipped } = await run(parseOptions(Deno.args));
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  Deno.exit(failed > 0 ? 1 : 0);
}
