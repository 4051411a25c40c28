/** The sandbox of a server of a test's own, with a place of its own for what servers share. */

import assert from "node:assert/strict";
import { createLog } from "../../../lib/log.ts";
import type { BackEndChoice } from "../../../lib/sandbox/back_end_choice.ts";
import { fromText } from "../../../lib/sandbox/byte_path.ts";
import { createSandbox } from "../../../lib/sandbox/linux_sandbox.ts";
import type { NetworkAccess, PolicyEntry, SandboxPolicy } from "../../../lib/sandbox/policy.ts";
import { runToEnd } from "../../../lib/sandbox/run_to_end.ts";
import type { Enforcement, PreparedLaunch, Sandbox } from "../../../lib/sandbox/sandbox.ts";
import type { TrialOutcome } from "../../../lib/sandbox/self_test.ts";

export const never = new AbortController().signal;

export interface Program {
  readonly file?: string;
  readonly argv?: readonly string[];
  readonly env?: readonly string[];
  readonly cwd?: string;
}

export class OwnSandbox implements Disposable {
  /** Everything lies in here. */
  readonly root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "own-sandbox-" }));
  /** May be written. */
  readonly workspace = `${this.root}/ws`;
  /** What servers share. */
  readonly shared = `${this.root}/run/exec-server`;
  readonly warnings: string[] = [];
  #sandbox: Sandbox | undefined;

  private constructor() {
    Deno.mkdirSync(this.workspace);
    Deno.mkdirSync(`${this.root}/run`, { mode: 0o700 });
  }

  /** @param secrets Their names below the root. */
  static async create(choice: BackEndChoice, secrets: readonly string[] = []): Promise<OwnSandbox> {
    const own = new OwnSandbox();
    const before = Deno.env.get("XDG_RUNTIME_DIR");
    Deno.env.set("XDG_RUNTIME_DIR", `${own.root}/run`);
    try {
      own.#sandbox = await createSandbox({
        choice,
        secretPaths: secrets.map((name) => `${own.root}/${name}`),
        log: createLog("warn", (line) => own.warnings.push(line)),
      });
      return own;
    } finally {
      if (before === undefined) Deno.env.delete("XDG_RUNTIME_DIR");
      else Deno.env.set("XDG_RUNTIME_DIR", before);
    }
  }

  get sandbox(): Sandbox {
    assert.ok(this.#sandbox !== undefined);
    return this.#sandbox;
  }

  /** Everything may be read, the workspace be written, and what else is said. */
  async enforcement(more: readonly PolicyEntry[] = [], network: NetworkAccess = "restricted"): Promise<Enforcement> {
    const entries = [READ_ALL, entry(this.workspace, "write"), ...more];
    return await this.enforcementOf({ fileSystem: restricted(entries), network });
  }

  async enforcementOf(policy: SandboxPolicy): Promise<Enforcement> {
    const enforcement = await this.sandbox.enforcement(await this.sandbox.plan(policy, never));
    assert.ok(enforcement !== null);
    return enforcement;
  }

  /** Makes a shell script, or another program, ready to be started in the workspace. */
  prepare(enforcement: Enforcement, program: string | Program, signal = never): Promise<PreparedLaunch> {
    const { file = "/bin/sh", argv, env = ["PATH=/usr/bin:/bin"], cwd = this.workspace } = typeof program === "string"
      ? { argv: ["/bin/sh", "-c", program] }
      : program;
    const words = (argv ?? [file]).map(fromText);
    return enforcement.prepare({ file: fromText(file), argv: words, env, cwd: fromText(cwd) }, signal);
  }

  async run(enforcement: Enforcement, program: string | Program): Promise<TrialOutcome> {
    return await runToEnd(await this.prepare(enforcement, program), never);
  }

  names(): string[] {
    return [...Deno.readDirSync(this.workspace)].map(({ name }) => name).sort();
  }

  [Symbol.dispose](): void {
    this.sandbox[Symbol.dispose]();
    Deno.removeSync(this.root, { recursive: true });
  }
}

export const READ_ALL: PolicyEntry = { path: { kind: "root" }, access: "read" };

export function entry(path: string, access: PolicyEntry["access"]): PolicyEntry {
  return { path: { kind: "path", path: fromText(path) }, access };
}

export function restricted(entries: readonly PolicyEntry[]): SandboxPolicy["fileSystem"] {
  return { entries, globScanMaxDepth: null, cwd: null, workspaceRoots: [], tmpdir: null };
}
