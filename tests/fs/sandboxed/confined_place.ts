/** A place where files are worked on in sandboxes, with everything that it takes; ended and removed with the scope. */

import assert from "node:assert/strict";
import type { FileOperations } from "../../../lib/fs/operations.ts";
import { ConfinedFiles } from "../../../lib/fs/sandboxed/confined_files.ts";
import { createLog } from "../../../lib/log.ts";
import type { BackEndName } from "../../../lib/sandbox/back_end_choice.ts";
import type { PolicyEntry } from "../../../lib/sandbox/policy.ts";
import type { FileConfinement } from "../../../lib/sandbox/sandbox.ts";
import { entry, OwnSandbox, READ_ALL, restricted } from "../../sandbox/support/own_sandbox.ts";
import { eventually, isAlive, leftOpen, openDescriptors } from "../../support/linux.ts";

export const caller = { signal: new AbortController().signal, budgetMs: () => 5 };

export class ConfinedPlace implements AsyncDisposable {
  readonly warnings: string[] = [];
  readonly files = new ConfinedFiles({ log: createLog("warn", (line) => this.warnings.push(line)) });
  readonly #open = openDescriptors();
  /** Leases that are held. */
  held = 0;

  private constructor(readonly own: OwnSandbox) {}

  static async create(backEnd: BackEndName): Promise<ConfinedPlace> {
    return new ConfinedPlace(await OwnSandbox.create(backEnd));
  }

  /** An absolute path in the workspace. */
  in(name: string): string {
    return `${this.own.workspace}/${name}`;
  }

  async confinement(entries: readonly PolicyEntry[]): Promise<FileConfinement> {
    const { files } = await this.own.enforcementOf({ fileSystem: restricted(entries), network: "restricted" });
    const { confinement } = files;
    return {
      confinement,
      arguments: (command) => files.arguments(command),
      hold: async (signal) => {
        const lease = await files.hold(signal);
        this.held++;
        return {
          [Symbol.asyncDispose]: async () => {
            this.held--;
            await lease[Symbol.asyncDispose]();
          },
        };
      },
    };
  }

  /** Under a policy; by default everything can be read, and the workspace written. */
  under(entries: readonly PolicyEntry[] = this.workspace()): FileOperations {
    return this.files.operations(() => this.confinement(entries));
  }

  workspace(...more: readonly PolicyEntry[]): PolicyEntry[] {
    return [READ_ALL, entry(this.own.workspace, "write"), ...more];
  }

  /** The helpers that this process has started, by the id of what confines itself. */
  helpers(): number[] {
    return [...Deno.readDirSync("/proc")].flatMap(({ name }) => {
      if (!/^\d+$/.test(name)) return [];
      const words = textOf(`/proc/${name}/cmdline`).split("\0");
      const isHelper = words.some((word) => word.endsWith("sandboxed/helper/main.ts")) && words[0] === Deno.execPath();
      return isHelper && isBelow(Number(name), Deno.pid) ? [Number(name)] : [];
    });
  }

  /** Kills a helper, and waits for those that started it. */
  async kill(helper: number): Promise<void> {
    const line = lineOf(helper);
    Deno.kill(helper, "SIGKILL");
    const ours = line.slice(0, line.indexOf(Deno.pid));
    await eventually("it has ended", () => !ours.some(isAlive));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    using _own = this.own;
    const helpers = this.helpers();
    this.files[Symbol.dispose]();
    await this.files.left();
    assert.equal(this.held, 0, "leases are held");
    // It has closed all it had open; to be a process no more takes a moment longer.
    for (const pid of helpers) await eventually(`helper ${pid} has ended`, () => !isAlive(pid));
    const left = leftOpen(this.#open).filter(([, target]) => !target.startsWith(`${this.own.root}/run/`));
    assert.deepEqual(left, [], "descriptors are left open");
  }
}

export { entry, READ_ALL };

/** Empty for what has ended. */
function textOf(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}

function isBelow(pid: number, ancestor: number): boolean {
  return lineOf(pid).includes(ancestor);
}

/** A process and those above it. */
function lineOf(pid: number): number[] {
  const parent = Number(/^PPid:\t(\d+)$/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0);
  return parent > 1 ? [pid, ...lineOf(parent)] : [pid];
}
