/**
 * Drives an executable with the conformance suite and with the tests of the program, and ends with one line:
 * `N passed, N failed, N skipped`. What an old run-time base cannot do counts as skipped, by name.
 *
 *     deno task test:binary                    dist/exec-server, as `deno task compile` has made it
 *     deno task test:binary --base 2.4.2       … on the run-time base of that version of Deno
 */
import { OLD_BASE } from "./test_binary/old_base.ts";
import { failureOf, mismatchOf, readRecording, readTest } from "./test_binary/read_cases.ts";
import { type Counts, runSuite, type Suite } from "./test_binary/suite.ts";

const PROJECT = new URL("../", import.meta.url).pathname;
const BINARY = `${PROJECT}dist/exec-server`;
/** Most time that a suite takes is spent waiting, so more of its files than there are cores run at once. */
const JOBS = "4";
/** Generous: with a quiet machine neither takes half of it. */
const CONFORMANCE_LIMIT_MS = 240_000;
const TESTS_LIMIT_MS = 300_000;

const MEASURES =
  "holds memory or fairness under load to a limit, which packaging does not change, and keeps a core busy";
/** Tests of the program that are not run again, and why. */
const LEFT_OUT: readonly (readonly [file: string, reason: string])[] = [
  ["tests/program/cp_memory_test.ts", MEASURES],
  ["tests/program/fast_programs_test.ts", MEASURES],
  ["tests/program/http_stream_test.ts", MEASURES],
  ["tests/program/second_client_test.ts", MEASURES],
  ["tests/program/slow_client_test.ts", MEASURES],
  ["tests/program/unread_log_test.ts", MEASURES],
  [
    "tests/program/remote_registration_test.ts",
    "starts a program for every answer of a registry; the other tests of remote mode start it in the same way",
  ],
];

const args = Deno.args.filter((arg) => arg !== "--");
if (args.length > 0 && (args.length !== 2 || args[0] !== "--base" || !/^\d+\.\d+\.\d+$/.test(args[1]!))) {
  console.error("usage: test:binary [--base VERSION]");
  Deno.exit(2);
}
const [major = 0, minor = 0] = (args[1] ?? Deno.version.deno).split(".").map(Number);
const excuses = major < 2 || (major === 2 && minor < 8) ? OLD_BASE : [];

const env = { EXEC_SERVER_BINARY: BINARY, NO_COLOR: "1", DENO_JOBS: JOBS };
const SUITES: readonly Suite[] = [
  {
    name: "recordings",
    command: [Deno.execPath(), "run", "-A", "--no-check", `${PROJECT}scripts/conformance.ts`, "--command", BINARY],
    env,
    limitMs: CONFORMANCE_LIMIT_MS,
    read: readRecording,
    sum: /^\d+ passed, (\d+) failed/m,
    details: mismatchOf,
  },
  {
    name: "tests",
    // The types are a check of their own.
    command: [
      ...[Deno.execPath(), "test", "-A", "--no-check", "--parallel"] as const,
      ...[...programTests(), "tests/packaging/recipes_test.ts"].map((path) => PROJECT + path),
    ],
    env,
    limitMs: TESTS_LIMIT_MS,
    read: readTest,
    sum: /^(?:ok|FAILED) \| \d+ passed.* \| (\d+) failed/m,
    details: failureOf,
  },
];

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => stop.abort(signal));

const totals: Counts[] = [];
if (!await Deno.stat(BINARY).then(({ isFile }) => isFile, () => false)) {
  console.log("skip: dist/exec-server is not there; `deno task compile` makes it");
  totals.push({ passed: 0, failed: 0, skipped: 1 });
} else {
  for (const [file, reason] of LEFT_OUT) console.log(`skip ${file}: ${reason}`);
  totals.push({ passed: 0, failed: 0, skipped: LEFT_OUT.length });
  totals.push(...await Promise.all(SUITES.map((suite) => runSuite(suite, excuses, console.log, stop.signal))));
}
const sum = (of: keyof Counts) => totals.reduce((all, counts) => all + counts[of], 0);
console.log(`${sum("passed")} passed, ${sum("failed")} failed, ${sum("skipped")} skipped`);
Deno.exit(sum("failed") === 0 ? 0 : 1);

function programTests(): string[] {
  const files = Array.from(Deno.readDirSync(`${PROJECT}tests/program`), ({ name }) => `tests/program/${name}`);
  return files.filter((path) => path.endsWith("_test.ts") && !LEFT_OUT.some(([file]) => file === path)).toSorted();
}
