/**
 * Tries whether macOS's sandbox keeps its promises on this machine: a shell in it attempts what it must be able to do and
 * what it must not, and from outside we look at what has come of it. The shell itself is no part of what is tried, so it
 * runs on other systems too.
 */

import { type Clock, waitingClock } from "../clock.ts";
import { fromText } from "./byte_path.ts";
import { expandPolicy } from "./expand_policy.ts";
import type { FileTree } from "./file_tree.ts";
import type { PolicyEntry } from "./policy.ts";
import type { RunTrial } from "./self_test.ts";

/** How long the trial may take, in ms: a dozen starts of small programs. */
export const SEATBELT_TRIAL_MS = 20_000;

interface Attempt {
  /** For a shell, with `$1` the ground, `$2` a port that somebody listens on, `$3` our own process. */
  readonly shell: string;
  readonly mustFail: boolean;
  readonly fault: string;
}

const ATTEMPTS: readonly Attempt[] = [
  allowed("echo second > $1/writable/file", "write where it may"),
  allowed("cat $1/read-only/file", "read where it may"),
  forbidden("echo second > $1/read-only/file", "write to what is read-only"),
  forbidden("echo second > $1/read-only/new", "make files where it may only read"),
  forbidden("chmod 666 $1/read-only/file", "change the mode of what is read-only"),
  forbidden("mkdir $1/writable/.git", "make a protected directory"),
  forbidden("cat $1/denied/file", "read what is denied"),
  forbidden("mv $1/writable/parent $1/writable/other", "rename what a read-only file lies in"),
  forbidden("ln $1/read-only/file $1/writable/link && echo second > $1/writable/link", "write through a hard link"),
  forbidden("kill -0 $3", "send signals to the server"),
  forbidden(`/bin/bash -p -c 'exec 3<>"/dev/tcp/127.0.0.1/$0"' $2`, "connect to the network"),
];

function allowed(shell: string, what: string): Attempt {
  return { shell, mustFail: false, fault: `it does not let a program ${what}` };
}

function forbidden(shell: string, what: string): Attempt {
  return { shell, mustFail: true, fault: `it lets a program ${what}` };
}

/** Each attempt says `y` or `n`; nothing else is heard of it. */
const SCRIPT = ATTEMPTS.map(({ shell }) => {
  const quoted = shell.replace(/\$1[^ ]*|\$[23]/g, '"$&"');
  return `(${quoted}) >/dev/null 2>&1 && echo y || echo n`;
}).join("\n");

/** @returns Why it cannot be relied on here, for people to read and without paths of theirs; undefined: it can. */
export async function seatbeltSelfTest(
  { tree, run, clock = waitingClock }: { readonly tree: FileTree; readonly run: RunTrial; readonly clock?: Clock },
): Promise<string | undefined> {
  using ground = new Ground();
  const plan = expandPolicy({ fileSystem: ground.policy(), network: "restricted" }, tree);
  if (plan.refusal !== undefined) return ground.tell(plan.refusal);
  const stopping = new AbortController();
  const timer = clock.after(SEATBELT_TRIAL_MS, () => stopping.abort());
  const argv = ["/bin/sh", "-c", SCRIPT, "sh", ground.root, String(ground.port), String(Deno.pid)];
  try {
    const env = { PATH: "/usr/bin:/bin:/usr/sbin:/sbin" };
    const outcome = await run({ plan, argv, env, cwd: fromText(ground.root) }, stopping.signal);
    const answers = outcome.stdout.match(/^[yn]$/gm) ?? [];
    if (outcome.exitCode !== 0 || answers.length !== ATTEMPTS.length) {
      return ground.tell(`the trial ended with exit code ${outcome.exitCode}: ${outcome.stderr.trim()}`);
    }
    const faults = ATTEMPTS.filter(({ mustFail }, at) => (answers[at] === "n") !== mustFail).map(({ fault }) => fault);
    return [...faults, ...ground.faults()].join("; ") || undefined;
  } catch (error) {
    if (stopping.signal.aborted) return `the trial took longer than ${SEATBELT_TRIAL_MS / 1000} s`;
    return ground.tell(error instanceof Error ? error.message : String(error));
  } finally {
    timer.cancel();
  }
}

/** Of what a failed trial has said, as much as an operator needs. */
const MAX_REASON_CHARACTERS = 200;

/** The files that the trial is about, and nothing else. */
class Ground implements Disposable {
  readonly root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "exec-server-trial-" }));
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });

  constructor() {
    for (const name of ["writable/parent", "read-only", "denied"]) {
      Deno.mkdirSync(`${this.root}/${name}`, { recursive: true });
      Deno.writeTextFileSync(`${this.root}/${name}/file`, "first");
    }
    Deno.chmodSync(`${this.root}/read-only/file`, 0o600);
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  policy() {
    const entry = (name: string, access: PolicyEntry["access"]): PolicyEntry => (
      { path: { kind: "path", path: fromText(`${this.root}/${name}`) }, access }
    );
    const root: PolicyEntry = { path: { kind: "root" }, access: "read" };
    const entries = [root, entry("writable", "write"), entry("writable/parent/file", "read"), entry("denied", "deny")];
    return { entries, globScanMaxDepth: null, cwd: null, workspaceRoots: [], tmpdir: null };
  }

  /** What has come of it, whatever the shell says. */
  faults(): string[] {
    const faults: string[] = [];
    const text = (name: string) => Deno.readTextFileSync(`${this.root}/${name}`);
    if (text("writable/file").trim() !== "second") faults.push("what a program wrote did not arrive");
    const { mode } = Deno.statSync(`${this.root}/read-only/file`);
    const names = [...Deno.readDirSync(`${this.root}/read-only`)].length;
    if (text("read-only/file") !== "first" || (mode! & 0o777) !== 0o600 || names !== 1) {
      faults.push("what is read-only was changed");
    }
    return faults;
  }

  /** One line that may go wherever a reason goes. */
  tell(reason: string): string {
    const line = reason.replaceAll(this.root, "…").replace(/[\s\p{Cc}]+/gu, " ").trim();
    return line.length > MAX_REASON_CHARACTERS ? `${line.slice(0, MAX_REASON_CHARACTERS)}…` : line;
  }

  [Symbol.dispose](): void {
    this.#listener.close();
    Deno.removeSync(this.root, { recursive: true });
  }
}
