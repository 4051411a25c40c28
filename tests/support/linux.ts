import { silentLog } from "../../lib/log.ts";
import type { Child, LaunchSpec } from "../../lib/process/child.ts";
import { type LinuxBackend, linuxBackend } from "../../lib/process/linux/spawn.ts";
import { ChildRecord, launchSpec } from "./child_record.ts";

/** Open descriptors of this process: number → what it is open on. */
export function openDescriptors(): Map<number, string> {
  const open = new Map<number, string>();
  for (const { name } of Deno.readDirSync("/proc/self/fd")) {
    try {
      open.set(Number(name), Deno.readLinkSync(`/proc/self/fd/${name}`));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error; // the directory's own, closed by now
    }
  }
  return open;
}

/**
 * Descriptors that are open now and were not before, with what they are open on. (Not how many more there are: one of
 * the runtime's own may have been closed meanwhile.)
 */
export function leftOpen(before: ReadonlyMap<number, string>): [number, string][] {
  return [...openDescriptors()].filter(([fd, target]) => before.get(fd) !== target);
}

/** Ids of all processes, with the fields of /proc/PID/stat after the name: state, parent, group, session … */
export function processes(): Map<number, string[]> {
  const found = new Map<number, string[]>();
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = Deno.readTextFileSync(`/proc/${name}/stat`);
      found.set(Number(name), stat.slice(stat.lastIndexOf(")") + 2).split(" "));
    } catch (error) {
      // It ended while we looked; reading then says one or the other.
      if (!(error instanceof Deno.errors.NotFound) && !String(error).includes("os error 3")) throw error;
    }
  }
  return found;
}

/** Whether a process runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  const state = processes().get(pid)?.[0];
  return state !== undefined && state !== "Z";
}

/** Our children, zombies included. */
export function ownChildren(): number[] {
  return [...processes()].filter(([, [, parent]]) => parent === String(Deno.pid)).map(([pid]) => pid);
}

/** Members of a process group, zombies not included. */
export function groupMembers(group: number): number[] {
  return [...processes()].filter(([, [state, , id]]) => id === String(group) && state !== "Z").map(([pid]) => pid);
}

/** Looks every few milliseconds; for states of the system that no event tells of. */
export async function eventually(what: string, isTrue: () => boolean, ms = 5000): Promise<void> {
  const until = performance.now() + ms;
  while (!isTrue()) {
    if (performance.now() > until) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A back end for one test, with what the test needs of it. */
export class Bench implements AsyncDisposable {
  readonly backend: LinuxBackend = linuxBackend({ log: silentLog });

  launch(argv: string[], more: Partial<LaunchSpec> = {}): { child: Child; record: ChildRecord } {
    const record = new ChildRecord();
    return { record, child: this.backend.launch(launchSpec(argv, more), record) };
  }

  /** Runs a shell script to its end: all events. */
  async run(script: string, more: Partial<LaunchSpec> = {}): Promise<string[]> {
    return await this.launch(["/bin/sh", "-c", script], more).record.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.backend[Symbol.asyncDispose]();
  }
}

export const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** A signal that is never aborted. */
export const never = new AbortController().signal;
