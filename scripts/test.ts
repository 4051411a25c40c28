/**
 * Runs all tests: those that need their process for themselves beside those that drive the program. Waits for both,
 * whatever happens, and ends with one line: `N passed, N failed, N skipped`.
 */

interface Part {
  readonly name: string;
  readonly args: readonly string[];
}

/** Tests whose servers are programs of their own. */
const PROGRAM = [
  ...["tests/wire", "tests/program", "tests/bench", "tests/examples", "tests/npm"],
  ...["tests/client/suite", "tests/client/chaos"],
];

const PARTS: readonly Part[] = [
  // They count the descriptors and children of their process, so their files run one after the other.
  { name: "library", args: [`--ignore=tests/soak,${PROGRAM.join()}`, "tests"] },
  // They wait more than they work; the slowest recording takes 160 s.
  { name: "program", args: ["--parallel", ...PROGRAM] },
];

interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
}

const children: Deno.ChildProcess[] = [];
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.addSignalListener(signal, () => {
    for (const child of children) {
      try {
        child.kill(signal);
      } catch (error) {
        // It has ended already.
        if (!(error instanceof TypeError || error instanceof Deno.errors.NotFound)) throw error;
      }
    }
  });
}

const outcomes = await Promise.all(PARTS.map(run));
const total = outcomes.reduce((sum, { passed, failed, skipped }) => ({
  passed: sum.passed + passed,
  failed: sum.failed + failed,
  skipped: sum.skipped + skipped,
}));
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
Deno.exit(total.failed === 0 && total.passed > 0 ? 0 : 1);

async function run({ name, args }: Part): Promise<Outcome> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", "--allow-all", ...args],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    env: { NO_COLOR: "1" },
  }).spawn();
  children.push(child);
  const outcome: Outcome = { passed: 0, failed: 0, skipped: 0 };
  const show = (line: string): void => {
    console.log(`[${name}] ${line}`);
    // The runner's own summary: "ok | 12 passed (3 steps) | 0 failed | 1 ignored (2s)".
    if (!/^(ok|FAILED) \| \d+ passed/.test(line)) return;
    outcome.passed += countOf("passed", line);
    outcome.failed += countOf("failed", line);
    outcome.skipped += countOf("ignored", line);
  };
  await Promise.all([eachLine(child.stdout, show), eachLine(child.stderr, show)]);
  const { code } = await child.status;
  // A run that broke before or beside its tests counts as one failure.
  if (outcome.failed === 0 && (code !== 0 || outcome.passed === 0)) {
    console.log(`[${name}] FAILED: exit code ${code}`);
    outcome.failed = 1;
  }
  return outcome;
}

function countOf(word: string, line: string): number {
  return Number(line.match(new RegExp(`(\\d+) ${word}`))?.[1] ?? 0);
}

async function eachLine(stream: ReadableStream<Uint8Array<ArrayBuffer>>, show: (line: string) => void): Promise<void> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(show);
  }
  if (rest !== "") show(rest);
}
