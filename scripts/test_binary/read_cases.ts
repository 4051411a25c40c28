import type { Case } from "./suite.ts";

/** The tests themselves leave these out where there is an executable. */
const REFERENCE_SIDE = / \(the reference\)$/;

/** A line of the conformance suite. */
export function readRecording(line: string): Case | undefined {
  const [, word, name = "", reason = ""] = /^(ok {3}|FAIL |skip )([\w-]+):? ?(.*)/.exec(line) ?? [];
  if (word === undefined) return undefined;
  return { name, reason, verdict: ({ ok: "passed", FAIL: "failed", skip: "skipped" } as const)[word.trim()]! };
}

/** What the conformance suite says of a recording that failed. */
export function mismatchOf(name: string, output: string): string {
  return output.split(`\nFAIL ${name}: `)[1]?.split(/\n(?=ok {3}|FAIL |skip |\d+ passed)/)[0] ?? "";
}

/**
 * A line of the runner of tests, with `--parallel`. A step of a test is no case: its name is behind that of the test and
 * another ` ... `.
 */
export function readTest(line: string): Case | undefined {
  const [, place] = /^Uncaught error from (\S+) FAILED$/.exec(line) ?? [];
  // As the runner calls it at its end. The tests that would have followed are cancelled, or nothing is said of them.
  if (place !== undefined) return { name: `${place} (uncaught error)`, reason: "", verdict: "failed" };
  const [, name = "", outcome] = /^\S+ => ((?:(?! \.\.\. ).)+) \.\.\. (ok|FAILED|ignored|cancelled)\b/.exec(line) ?? [];
  if (outcome === undefined) return undefined;
  const reason = REFERENCE_SIDE.test(name)
    ? "what the other server does is seen without an executable"
    : "not for this machine";
  return { name, reason, verdict: VERDICTS[outcome]! };
}

const VERDICTS: Readonly<Record<string, Case["verdict"]>> = {
  ok: "passed",
  FAILED: "failed",
  cancelled: "failed",
  ignored: "skipped",
};

/** What the runner says of a failed test at its end; empty: nothing. */
export function failureOf(name: string, output: string): string {
  const [, errors = ""] = output.split("\n ERRORS \n");
  const [, after] = errors.split(new RegExp(`\\n${RegExp.escape(name)}(?: => |\\n)`));
  return after === undefined ? "" : after.split(/\n\n(?=\S.* => \S+:\d+:\d+$| FAILURES )/m)[0]!;
}
