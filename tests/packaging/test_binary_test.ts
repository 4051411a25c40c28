import assert from "node:assert/strict";
import { failureOf, mismatchOf, readRecording, readTest } from "../../scripts/test_binary/read_cases.ts";
import { runSuite, type Suite } from "../../scripts/test_binary/suite.ts";

const never = new AbortController().signal;
const OUTPUT = `running 3 tests from ./tests/a_test.ts
./tests/a_test.ts => one ... ok (3ms)
./tests/a_test.ts => two, with steps ... a step ... FAILED (1s)
./tests/a_test.ts => two, with steps ... FAILED (due to 1 failed step) (2s)
./tests/a_test.ts => three (the reference) ... ignored (0ms)

 ERRORS 

two, with steps => ./tests/a_test.ts:7:6
error: AssertionError: no

four => ./tests/a_test.ts:9:6
error: another

 FAILURES 

two, with steps => ./tests/a_test.ts:7:6

FAILED | 1 passed | 1 failed (1 step) | 1 ignored (2s)
`;
const SUM = /(\d+) failed/;

/** Runs a script as a suite of tests. @returns What was counted, and what was said without the times. */
async function run(script: string, { limitMs = 60_000, signal = never, ...more }: Partial<Suite> & {
  signal?: AbortSignal;
  excuses?: [RegExp, string][];
} = {}) {
  const { excuses = [], ...rest } = more;
  const said: string[] = [];
  const suite: Suite = {
    ...{ name: "suite", command: ["/bin/sh", "-c", script], limitMs, read: readTest, sum: SUM, details: failureOf },
    ...rest,
  };
  const { passed, failed, skipped } = await runSuite(suite, excuses, (line) => said.push(line), signal);
  return { counts: [passed, failed, skipped], said: said.map((line) => line.replace(/ in \d+ s$/, "")) };
}

const onUnix = { ignore: Deno.build.os === "windows" };

Deno.test(
  "a suite counts its tests, without their steps, and shows what is said of those that failed",
  onUnix,
  async () => {
    assert.deepEqual(await run(`cat <<'END'\n${OUTPUT}END\nexit 1`), {
      counts: [1, 1, 1],
      said: [
        "FAIL two, with steps\n./tests/a_test.ts:7:6\nerror: AssertionError: no",
        "skip three (the reference): what the other server does is seen without an executable",
        "suite: 3 cases",
      ],
    });
  },
);

Deno.test("recordings are counted, with the reasons of those that are skipped", () => {
  assert.deepEqual(["ok   a-b (3 ms)", "FAIL c: why", "skip d: slow", "2 passed, 1 failed"].map(readRecording), [
    { name: "a-b", verdict: "passed", reason: "(3 ms)" },
    { name: "c", verdict: "failed", reason: "why" },
    { name: "d", verdict: "skipped", reason: "slow" },
    undefined,
  ]);
  assert.equal(mismatchOf("c", "ok   a-b (3 ms)\nFAIL c: why\n  and where\nskip d: slow\n"), "why\n  and where");
});

Deno.test("a known failure is skipped by name with its reason, and one that passes is told", onUnix, async () => {
  const script = `echo './x => old ... FAILED (1s)'; echo './x => well ... ok (1s)'; echo '1 failed'; exit 1`;
  assert.deepEqual(await run(script, { excuses: [[/^old$/, "no zstd"], [/^well$/, "no locks"]] }), {
    counts: [1, 0, 1],
    said: [
      "skip old: no zstd",
      "note well: passes, and need not be excused: no locks",
      "suite: 2 cases",
    ],
  });
});

Deno.test("a suite that breaks has failed, whatever its cases did", onUnix, async () => {
  const nothing = await run("echo broken >&2; exit 3");
  assert.deepEqual(nothing.counts, [0, 1, 0]);
  assert.match(nothing.said[0]!, /^FAIL suite: no case was run; exit code 3; the end of its output:\n +broken$/);
  const late = await run("echo './x => one ... ok (1s)'; exit 1");
  assert.deepEqual(late.counts, [1, 1, 0]);
  assert.match(late.said[0]!, /^FAIL suite: exit code 1 without a case that failed/);
});

Deno.test("no failure hides behind one that is excused", onUnix, async () => {
  const old = "echo './x => old ... FAILED (1s)'; ";
  const excuses: [RegExp, string][] = [[/^old$/, "no zstd"]];
  const uncaught = await run(
    `${old} cat <<'END'
Uncaught error from ./y FAILED
./y => next ... cancelled (0ms)

 ERRORS 

./y (uncaught error)
error: Error: no

 FAILURES 

3 failed
END
exit 1`,
    { excuses },
  );
  assert.deepEqual(uncaught.counts, [0, 2, 1]);
  assert.deepEqual(uncaught.said.slice(1), [
    "FAIL ./y (uncaught error)\nerror: Error: no",
    "FAIL next",
    "suite: 3 cases",
  ]);
  const twice = `${old} echo './x => same ... ok (1s)'; echo './y => same ... FAILED (1s)'; echo '2 failed'; exit 1`;
  assert.deepEqual((await run(twice, { excuses })).counts, [0, 1, 1]);
  const unseen = await run(`${old} echo '2 failed'; exit 1`, { excuses });
  assert.deepEqual(unseen.counts, [0, 1, 1]);
  assert.match(unseen.said[1]!, /^FAIL suite: 1 cases were seen to fail, by its own count 2/);
  const silent = await run(`${old} exit 1`, { excuses });
  assert.match(silent.said[1]!, /^FAIL suite: 1 cases were seen to fail, by its own count unknown/);
});

Deno.test("a suite that does not end is ended, with what was counted until then", onUnix, async () => {
  const { counts, said } = await run("echo './x => one ... ok (1s)'; exec sleep 1000", { limitMs: 500 });
  assert.deepEqual(counts, [1, 1, 0]);
  assert.match(said[0]!, /^FAIL suite: no end within 0.5 s; stopped/);
});

Deno.test("a signal ends a suite, and what it has started", onUnix, async () => {
  const stop = new AbortController();
  let pid = NaN;
  const read = (line: string) => {
    if (!/^\d+$/.test(line)) return undefined;
    pid = Number(line);
    stop.abort("SIGTERM");
    return undefined;
  };
  const { counts, said } = await run("sleep 1000 & echo $!; exec sleep 1000", { signal: stop.signal, read });
  assert.deepEqual(counts, [0, 1, 0]);
  assert.throws(() => Deno.kill(pid, "SIGCONT"), Deno.errors.NotFound);
  assert.match(said[0]!, /^FAIL suite: stopped by SIGTERM/);
});

Deno.test("a suite whose remains hold its output open is not waited for", onUnix, async () => {
  const { counts, said } = await run("echo './x => one ... ok (1s)'; sleep 20 & exit 0");
  assert.deepEqual(counts, [1, 1, 0]);
  assert.match(said[0]!, /^FAIL suite: it left something behind that holds its output open/);
});
