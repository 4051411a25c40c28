/**
 * One run of many cases as a program of its own, with a limit to its time: its cases are counted from the lines that it
 * writes, and those that are known to fail on an old run-time base are told by name instead of failing.
 */

import { signalGroup } from "../../lib/process/signal_group.ts";

export interface Case {
  readonly name: string;
  readonly verdict: "passed" | "failed" | "skipped";
  /** Why it was skipped, if it was. */
  readonly reason: string;
}

export interface Suite {
  readonly name: string;
  /** The program and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  /** It is ended when it takes longer, and has failed. */
  readonly limitMs: number;
  /** The case that a line of its output tells the end of. */
  readonly read: (line: string) => Case | undefined;
  /** Finds in its output how many cases failed, by its own count: none of them must have been overlooked. */
  readonly sum: RegExp;
  /** More about a failed case, from all that was written; empty: its line says all. */
  readonly details: (name: string, output: string) => string;
}

/** Cases that cannot pass, and the exact reason. */
export type Excuses = readonly (readonly [names: RegExp, reason: string])[];

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** How long a suite may take to end what it has started, after SIGTERM, and to close its output after its end. */
const GRACE_MS = 5_000;

/**
 * Runs a suite to its end, which comes in any case. Whatever ends badly without a case that failed counts as one.
 *
 * @param say Hears a line for everything that is not simply a case that passed.
 * @param signal Ends the suite before its time; its reason is told.
 */
export async function runSuite(
  suite: Suite,
  excuses: Excuses,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<Counts> {
  const [program, ...args] = suite.command;
  const began = performance.now();
  // Detached: what it starts, but for what makes a session of its own, can be ended with it.
  const options = {
    args,
    env: suite.env ?? {},
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    detached: true,
  } as const;
  const child = new Deno.Command(program, options).spawn();
  const ending = endable(child, suite.limitMs, signal);
  const seen = new Map<string, Case>();
  const hear = (line: string) => {
    const one = suite.read(line);
    if (one !== undefined && (one.verdict === "failed" || !seen.has(one.name))) seen.set(one.name, one);
  };
  const held = new AbortController();
  const text = Promise.all([allOf(child.stdout, hear, held.signal), allOf(child.stderr, () => {}, held.signal)]);
  const { success, code } = await child.status;
  const why = await ending();
  // A program that outlives the suite may hold its output open.
  const holding = setTimeout(() => held.abort(), GRACE_MS);
  const [stdout, stderr] = await text;
  clearTimeout(holding);
  const counts = judge([...seen.values()], suite, excuses, stdout, say);
  const failures = [...seen.values()].filter(({ verdict }) => verdict === "failed").length;
  const [, sum = "unknown"] = suite.sum.exec(stdout) ?? [];
  const flaw = why ?? (held.signal.aborted ? "it left something behind that holds its output open" : undefined) ??
    (seen.size === 0 ? `no case was run; exit code ${code}` : undefined) ??
    (success || failures > 0 ? undefined : `exit code ${code} without a case that failed`) ??
    (sum === String(failures) ? undefined : `${failures} cases were seen to fail, by its own count ${sum}`);
  if (flaw !== undefined) say(`FAIL ${suite.name}: ${flaw}${lastOf(`${stdout}${stderr}`)}`);
  say(`${suite.name}: ${seen.size} cases in ${Math.round((performance.now() - began) / 1000)} s`);
  return { ...counts, failed: counts.failed + (flaw === undefined ? 0 : 1) };
}

function judge(
  cases: readonly Case[],
  { details }: Suite,
  excuses: Excuses,
  output: string,
  say: (line: string) => void,
): Counts {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { name, verdict, reason: said } of cases) {
    const reason = excuses.find(([names]) => names.test(name))?.[1];
    if (verdict === "failed" && reason === undefined) {
      counts.failed++;
      say(`FAIL ${name}\n${details(name, output)}`.trimEnd());
    } else if (verdict === "failed") {
      counts.skipped++;
      say(`skip ${name}: ${reason}`);
    } else {
      counts[verdict]++;
      if (verdict === "skipped") say(`skip ${name}: ${said}`);
      if (verdict === "passed" && reason !== undefined) say(`note ${name}: passes, and need not be excused: ${reason}`);
    }
  }
  return counts;
}

/**
 * Ends a child and its group when its time is over or the signal comes: by SIGTERM, on which servers end what they have
 * started, and then by SIGKILL.
 *
 * @returns To be called after the child's end: resolves when nothing is left, with the reason if it was ended.
 */
function endable(child: Deno.ChildProcess, limitMs: number, signal: AbortSignal): () => Promise<string | undefined> {
  let force: ReturnType<typeof setTimeout> | undefined;
  let why: string | undefined;
  const end = (reason: string) => {
    why ??= reason;
    force ??= setTimeout(() => signalGroup(child.pid, "SIGKILL"), GRACE_MS);
    signalGroup(child.pid, "SIGTERM");
  };
  const stop = () => end(`stopped by ${signal.reason}`);
  const limit = setTimeout(() => end(`no end within ${limitMs / 1000} s; stopped`), limitMs);
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop);
  return async () => {
    clearTimeout(limit);
    clearTimeout(force);
    signal.removeEventListener("abort", stop);
    if (why === undefined) return undefined;
    // What was started meanwhile.
    for (const began = performance.now(); signalGroup(child.pid, "SIGTERM");) {
      if (performance.now() - began > GRACE_MS) signalGroup(child.pid, "SIGKILL");
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return why;
  };
}

/** All that comes until its end or the signal; each line is heard when it comes. */
async function allOf(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  hear: (line: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const reader = stream.getReader();
  signal.addEventListener("abort", () => void reader.cancel());
  const decoder = new TextDecoder();
  let [all, rest] = ["", ""];
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const text = decoder.decode(read.value, { stream: true });
    all += text;
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(hear);
  }
  hear(rest);
  return all;
}

/** The end of what a suite wrote that broke. */
function lastOf(output: string): string {
  const lines = output.trim().split("\n").slice(-20);
  return lines.join("") === "" ? "" : `; the end of its output:\n  ${lines.join("\n  ")}`;
}
