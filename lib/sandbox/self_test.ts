/**
 * Tries whether a back end keeps its promises on this machine: a program inside attempts what it must be able to do and
 * what it must not, and from outside we look at what has come of it.
 */

import { type Clock, waitingClock } from "../clock.ts";
import { ENOSYS, EPERM } from "../linux/errno.ts";
import { fromText } from "./byte_path.ts";
import { expandPolicy } from "./expand_policy.ts";
import type { LauncherCommand } from "./launcher_command.ts";
import type { AccessPlan, BytePath, PolicyEntry, SandboxPolicy } from "./policy.ts";
import { type Attempt, PROBE_TEXT } from "./probe/attempt.ts";
import { realTree } from "./real_tree.ts";

/** One program to be run in the sandbox of a plan, as any other. */
export interface Trial {
  readonly plan: AccessPlan;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: BytePath;
}

export interface TrialOutcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs it to its end; the signal says that nobody waits any more. */
export type RunTrial = (trial: Trial, signal: AbortSignal) => Promise<TrialOutcome>;

/**
 * What a back end promises. `view`: everything that a policy can say. `grants`: what can be said by granting alone.
 * `filter`: nothing but that there is no network.
 */
export type Strength = "view" | "grants" | "filter";

export interface SelfTestOptions {
  readonly strength: Strength;
  readonly run: RunTrial;
  readonly probe: LauncherCommand;
  readonly clock?: Clock;
}

/** How long the trial may take in ms; it needs about 50, and some seconds on a machine that has never run it. */
export const SELF_TEST_MS = 20_000;
/** Of what a failed trial has said, as much as an operator needs. */
const MAX_REASON_CHARACTERS = 200;

/** What programs put into their errors for terminals. */
// deno-lint-ignore no-control-regex
const COLORS = /\x1b\[[\d;]*m/g;

/** An attempt that has to fail, and what is wrong if it does not; or the other way round. */
interface Expectation {
  readonly attempt: Attempt;
  readonly mustFail: boolean;
  readonly fault: string;
}

const AF_INET = 2, AF_INET6 = 10, AF_NETLINK = 16;
const SOCK_STREAM = 1, SOCK_DGRAM = 2, SOCK_RAW = 3;

/**
 * @returns Why the back end cannot be relied on here, for people to read and without paths of theirs; undefined: it can.
 */
export async function selfTest(
  { strength, run, probe, clock = waitingClock }: SelfTestOptions,
): Promise<string | undefined> {
  let made: Ground;
  try {
    made = new Ground();
  } catch (error) {
    return `the files of the trial cannot be made where temporary files go (TMPDIR): ${systemWords(error)}`;
  }
  using ground = made;
  const expectations = expected(strength, ground);
  const plan = expandPolicy(policyOf(strength, ground), realTree);
  if (plan.refusal !== undefined) return ground.tell(plan.refusal);
  const attempts = JSON.stringify(expectations.map(({ attempt }) => attempt));
  const trial: Trial = { plan, argv: [...probe.argv, attempts], env: probe.env, cwd: fromText(ground.root) };
  const outcome = await withinTime(clock, (signal) => run(trial, signal)).catch(messageOf);
  if (outcome === undefined) return `the trial took longer than ${SELF_TEST_MS / 1000} s`;
  if (typeof outcome === "string") return ground.tell(outcome);
  const results = resultsOf(outcome.stdout, expectations.length);
  if (outcome.exitCode !== 0 || results === undefined) {
    return ground.tell(`the trial program ended with exit code ${outcome.exitCode}: ${outcome.stderr.trim()}`);
  }
  const faults = expectations.filter(({ attempt, mustFail }, at) => hasFailed(attempt, results[at]!) !== mustFail);
  return [...faults.map(({ fault }) => fault), ...ground.faults(strength)].join("; ") || undefined;
}

function policyOf(strength: Strength, { writable, denied, writableFile }: Ground): SandboxPolicy {
  const entry = (path: string, access: PolicyEntry["access"]): PolicyEntry => (
    { path: { kind: "path", path: fromText(path) }, access }
  );
  const root: PolicyEntry = { path: { kind: "root" }, access: "read" };
  const narrowed = strength === "view"
    ? [entry(writable, "write"), entry(denied, "deny")]
    : [entry(writableFile, "write")];
  const more = { globScanMaxDepth: null, cwd: null, workspaceRoots: [], tmpdir: null };
  return {
    fileSystem: strength === "filter" ? "unrestricted" : { entries: [root, ...narrowed], ...more },
    network: "restricted",
  };
}

function expected(strength: Strength, ground: Ground): Expectation[] {
  const allowed = (attempt: Attempt, what: string): Expectation => (
    { attempt, mustFail: false, fault: `it does not let a program ${what}` }
  );
  const forbidden = (attempt: Attempt, what: string): Expectation => (
    { attempt, mustFail: true, fault: `it lets a program ${what}` }
  );
  const socket = (family: number, type: number, what: string): Expectation =>
    forbidden({ do: "socket", family, type }, `open ${what}`);
  const network = [
    socket(AF_INET, SOCK_STREAM, "an internet socket"),
    socket(AF_INET, SOCK_DGRAM, "a socket for datagrams"),
    socket(AF_INET6, SOCK_STREAM, "a socket of IPv6"),
    socket(AF_NETLINK, SOCK_RAW, "a socket to the kernel"),
    forbidden({ do: "ioUring" }, "use io_uring"),
  ];
  const write = allowed({ do: "write", path: ground.writableFile }, "write where it may");
  if (strength === "filter") return [write, ...network];
  const files = [
    write,
    allowed({ do: "read", path: ground.readOnlyFile }, "read where it may"),
    forbidden({ do: "write", path: ground.readOnlyFile }, "write to what is read-only"),
    forbidden({ do: "write", path: ground.newFile }, "make files where it may only read"),
    forbidden({ do: "changeMode", path: ground.readOnlyFile }, "change the mode of what is read-only"),
  ];
  if (strength === "grants") {
    return [...files, forbidden({ do: "signal", pid: Deno.pid }, "send signals to the server"), ...network];
  }
  // Our number may be another's inside.
  const namespace = Deno.readLinkSync("/proc/self/ns/pid");
  return [
    ...files,
    forbidden({ do: "joinProcesses", namespace }, "see the server's processes"),
    forbidden({ do: "makeDirectory", path: ground.protectedName }, "make a protected directory"),
    forbidden({ do: "write", path: `${ground.protectedName}/config` }, "write to a protected directory"),
    forbidden({ do: "read", path: ground.secret }, "read what is denied"),
    ...network,
  ];
}

/** That there is no such thing, of which only io_uring can be sure, is as good as a refusal. */
function hasFailed(attempt: Attempt, result: number): boolean {
  return attempt.do === "ioUring" ? result === EPERM || result === ENOSYS : result !== 0;
}

function resultsOf(output: string, count: number): number[] | undefined {
  try {
    const results: unknown = JSON.parse(output);
    const isList = Array.isArray(results) && results.length === count && results.every(Number.isInteger);
    return isList ? results : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Whoever tells it says himself that there is no sandbox. */
function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/^sandbox unavailable: /, "") : String(error);
}

/** Without the path that the runtime adds. */
function systemWords(error: unknown): string {
  const message = messageOf(error);
  return /^[^/]*?\(os error \d+\)/.exec(message)?.[0] ?? (error instanceof Error ? error.name : "unknown");
}

/** Undefined if it takes too long; then nobody listens to it any more. */
async function withinTime<T>(clock: Clock, act: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
  const aborting = new AbortController();
  const late = Promise.withResolvers<undefined>();
  const timer = clock.after(SELF_TEST_MS, () => {
    aborting.abort();
    late.resolve(undefined);
  });
  try {
    return await Promise.race([act(aborting.signal), late.promise]);
  } finally {
    timer.cancel();
  }
}

/** The files that the trial is about, and nothing else. */
class Ground implements Disposable {
  readonly root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "exec-server-trial-" }));
  readonly writable = `${this.root}/writable`;
  readonly writableFile = `${this.writable}/file`;
  readonly protectedName = `${this.writable}/.git`;
  readonly denied = `${this.root}/denied`;
  readonly secret = `${this.denied}/file`;
  readonly readOnly = `${this.root}/read-only`;
  readonly readOnlyFile = `${this.readOnly}/file`;
  readonly newFile = `${this.readOnly}/new`;

  constructor() {
    for (const directory of [this.writable, this.denied, this.readOnly]) Deno.mkdirSync(directory);
    for (const file of [this.writableFile, this.secret, this.readOnlyFile]) Deno.writeTextFileSync(file, "first");
    Deno.chmodSync(this.readOnlyFile, 0o600);
  }

  /** What has come of it, whatever the program says. */
  faults(strength: Strength): string[] {
    const faults: string[] = [];
    if (Deno.readTextFileSync(this.writableFile) !== PROBE_TEXT) faults.push("what a program wrote did not arrive");
    if (strength === "filter") return faults;
    const { mode } = Deno.statSync(this.readOnlyFile);
    const isChanged = Deno.readTextFileSync(this.readOnlyFile) !== "first" || (mode! & 0o777) !== 0o600;
    const names = [...Deno.readDirSync(this.root), ...Deno.readDirSync(this.readOnly)].map(({ name }) => name).sort();
    if (isChanged || names.join() !== "denied,file,read-only,writable") faults.push("what is read-only was changed");
    return faults;
  }

  /** One line that may go wherever a reason goes. */
  tell(reason: string): string {
    const line = reason.replaceAll(this.root, "…").replace(COLORS, "").replace(/[\s\p{Cc}]+/gu, " ").trim();
    return line.length > MAX_REASON_CHARACTERS ? `${line.slice(0, MAX_REASON_CHARACTERS)}…` : line;
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}
