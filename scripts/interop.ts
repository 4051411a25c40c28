/**
 * Tells the reference and our program the same random things and compares what they answer, and what they make of twin
 * directory trees; then lets the real Codex CLI work through both, our client work with the reference, and both with each other
 * through a relay.
 *
 *     deno task interop                       a run of the usual length, over WebSocket and stdio
 *     deno task interop -- --runs 2000        a longer one
 *     deno task interop -- --seed 42          the same one again
 *     deno task interop -- --only fs          only random requests for files; needs bubblewrap
 *     deno task interop -- --only sandbox     only random requests and programs in random sandboxes; needs bubblewrap
 *     deno task interop -- --only codex       only the real Codex CLI
 *     deno task interop -- --only client      only our client against the reference
 *     deno task interop -- --only relay       only the relay, with the reference at one of its ends
 */
import fc from "fast-check";
import { WIRE_VERSION } from "../lib/version.ts";
import { isVersion, referenceCommand } from "../tests/bench/reference.ts";
import { playSuite, skipSuite } from "../tests/client/suite/play.ts";
import { playCodex, skipCodex } from "../tests/codex/play.ts";
import { Duel } from "../tests/interop/duel.ts";
import { playFiles, type PlayOptions } from "../tests/interop/fs/play.ts";
import { playSandboxes } from "../tests/interop/sandbox/play.ts";
import { scenarios } from "../tests/interop/scenario.ts";
import { Side } from "../tests/interop/side.ts";
import type { ServerCommand } from "../tests/program/running_server.ts";
import { playRelay, skipRelay } from "../tests/relay/interop/play.ts";
import { OUR_RULES, REFERENCE_RULES, type Rules } from "../tests/wire/differences.ts";
import { show } from "../tests/wire/mismatch.ts";
import { ownProgram, splitCommand } from "../tests/wire/target.ts";
import { Workspace } from "../tests/wire/workspace.ts";

const USAGE = `usage: interop [options]
  --runs N          random conversations over WebSocket (default 150); a fifth as many over stdio
  --seed N          repeat the run with this seed
  --path P          with --seed: only the conversation at this place, as a failure prints it
  --transport T     ws or stdio only
  --only PART       messages (random conversations), fs (those about files), sandbox (those in sandboxes), codex (the real Codex CLI with a scripted
                    model), client (our client against the reference) or relay (all of them through a relay) only
  --title TEXT      with --only relay: only runs whose title contains it
  --codex VERSION   with --only codex or client: that version of Codex, fetched from npm, instead of ${WIRE_VERSION}; what it cannot
                    do with a server of its own either is skipped
  --command 'P A…'  a program to compare instead of ours, with absolute paths: it starts in a directory of its own
  --strict          exactly the reference: no deliberate difference is allowed`;

const PARTS = ["messages", "fs", "sandbox", "codex", "client", "relay"] as const;
type Part = typeof PARTS[number];

interface Options {
  readonly runs: number;
  readonly seed: number;
  readonly path: string | null;
  readonly transports: readonly ("ws" | "stdio")[];
  readonly parts: readonly Part[];
  readonly title: string;
  /** The version of Codex, and of the reference, which is a part of it. */
  readonly codex: string;
  /** The program to compare; null for ours. */
  readonly words: readonly string[] | null;
  readonly rules: Rules;
}

function parseOptions(args: readonly string[]): Options {
  let options: Options = {
    runs: 150,
    seed: crypto.getRandomValues(new Int32Array(1))[0]!,
    path: null,
    transports: ["ws", "stdio"],
    parts: PARTS,
    title: "",
    codex: WIRE_VERSION,
    words: null,
    rules: OUR_RULES,
  };
  const rest = args.filter((arg) => arg !== "--");
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === "--strict") {
      options = { ...options, rules: REFERENCE_RULES };
      continue;
    }
    const value = rest.shift() ?? fail(`${arg} needs a value`);
    if (arg === "--runs") options = { ...options, runs: integer(arg, value) };
    else if (arg === "--seed") options = { ...options, seed: integer(arg, value) };
    else if (arg === "--path") options = { ...options, path: value };
    else if (arg === "--title") options = { ...options, title: value };
    else if (arg === "--codex") options = { ...options, codex: version(value) };
    else if (arg === "--command") options = { ...options, words: splitCommand(value) };
    else if (arg === "--transport" && (value === "ws" || value === "stdio")) {
      options = { ...options, transports: [value] };
    } else if (arg === "--only") options = { ...options, parts: [part(value)] };
    else fail(`unexpected argument '${arg} ${value}'`);
  }
  const isForVersions = options.parts.every((each) => each === "codex" || each === "client");
  if (options.codex !== WIRE_VERSION && !isForVersions) fail("--codex needs --only codex or --only client");
  return options;
}

function version(text: string): string {
  return isVersion(text) ? text : fail(`--codex needs a version such as ${WIRE_VERSION}, got '${text}'`);
}

function part(name: string): Part {
  return PARTS.find((each) => each === name) ?? fail(`--only needs one of ${PARTS.join(", ")}, got '${name}'`);
}

function integer(option: string, text: string): number {
  return /^-?\d+$/.test(text) ? Number(text) : fail(`${option} needs an integer, got '${text}'`);
}

function fail(message: string): never {
  console.error(`error: ${message}\n\n${USAGE}`);
  Deno.exit(2);
}

/** @returns True if both did the same in every conversation. */
async function run(transport: "ws" | "stdio", reference: readonly string[], options: Options): Promise<boolean> {
  await using workspace = await Workspace.create();
  await using theirs = await Side.start({ name: "the reference", words: reference, workspace }, transport);
  const words = options.words ?? ownProgram().words;
  await using ours = await Side.start({ name: "our program", words, workspace }, transport);
  const duel = new Duel(theirs, ours, options.rules);
  const numRuns = runsOver(transport, options);
  const since = performance.now();
  const outcome = await fc.check(fc.asyncProperty(scenarios, (scenario) => duel.play(scenario)), {
    seed: options.seed,
    numRuns,
    ...(options.path === null ? {} : { path: options.path }),
  });
  const seconds = ((performance.now() - since) / 1000).toFixed(1);
  if (!outcome.failed) {
    console.log(`ok   ${transport}: ${outcome.numRuns} conversations answered alike (${seconds} s)`);
    return true;
  }
  const { errorInstance, counterexample, counterexamplePath } = outcome;
  console.log(`FAIL ${transport} after ${outcome.numRuns} conversations, ${outcome.numShrinks} times shortened`);
  console.log(`repeat: --transport ${transport} --seed ${options.seed} --path ${counterexamplePath}`);
  console.log(show(JSON.stringify(counterexample?.[0], null, 2)));
  console.log(errorInstance instanceof Error ? errorInstance.message : String(errorInstance));
  return false;
}

/** The same for requests that change files, and in sandboxes, where servers can be confined. */
async function runConfined(
  play: (options: PlayOptions) => Promise<boolean | null>,
  name: string,
  transport: "ws" | "stdio",
  reference: ServerCommand,
  options: Options,
): Promise<"passed" | "failed" | "skipped"> {
  const { words, seed, path, rules } = options;
  const runs = runsOver(transport, options);
  try {
    const strict = rules === REFERENCE_RULES;
    const alike = await play({ reference, words, transport, runs, seed, path, strict });
    return alike === null ? "skipped" : alike ? "passed" : "failed";
  } catch (error) {
    console.log(`FAIL ${name} ${transport}: ${error instanceof Error ? error.message : String(error)}`);
    return "failed";
  }
}

function runsOver(transport: "ws" | "stdio", { runs }: Options): number {
  return transport === "ws" ? runs : Math.ceil(runs / 5);
}

/** The reference's command, or null with a line why not. */
async function findReference(version: string): Promise<ServerCommand | null> {
  try {
    return await referenceCommand(version);
  } catch (error) {
    console.log(`skip: the reference cannot be had here: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

if (import.meta.main) {
  const options = parseOptions(Deno.args);
  const reference = await findReference(options.codex);
  const counts = { passed: 0, failed: 0, skipped: 0 };
  if (reference !== null) console.log(`seed ${options.seed}`);
  for (const transport of options.parts.includes("messages") ? options.transports : []) {
    if (reference === null) counts.skipped++;
    else counts[await run(transport, reference, options) ? "passed" : "failed"]++;
  }
  for (const transport of options.parts.includes("fs") ? options.transports : []) {
    counts[reference === null ? "skipped" : await runConfined(playFiles, "fs", transport, reference, options)]++;
  }
  for (const transport of options.parts.includes("sandbox") ? options.transports : []) {
    const skips = reference === null;
    counts[skips ? "skipped" : await runConfined(playSandboxes, "sandbox", transport, reference, options)]++;
  }
  if (options.parts.includes("codex")) {
    const carriers = options.transports;
    const ours = options.words ?? ownProgram().words;
    const codex = reference === null
      ? skipCodex(carriers)
      : await playCodex({ reference, version: options.codex, ours, carriers });
    counts.passed += codex.passed;
    counts.failed += codex.failed;
    counts.skipped += codex.skipped;
  }
  if (options.parts.includes("client")) {
    const client = reference === null ? skipSuite() : await playSuite("reference", reference);
    counts.passed += client.passed;
    counts.failed += client.failed;
    counts.skipped += client.skipped;
  }
  if (options.parts.includes("relay")) {
    const ours = options.words ?? ownProgram().words;
    const relay = reference === null ? skipRelay() : await playRelay(
      { cli: reference[0], reference, ours, seed: options.seed },
      options.title,
    );
    counts.passed += relay.passed;
    counts.failed += relay.failed;
    counts.skipped += relay.skipped;
  }
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  Deno.exit(counts.failed > 0 ? 1 : 0);
}
