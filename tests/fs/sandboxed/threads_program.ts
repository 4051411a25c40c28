/**
 * Tells what the threads of a file helper see and may do before, in and after a view; started in its place, by
 * `helper_threads_test.ts`. Its error output is for failures.
 */

import { inBackground } from "../../../lib/linux/background.ts";
import { openAt } from "../../../lib/linux/file_calls.ts";
import { AT_FDCWD, cBytes, close, NUMBERS, systemCall } from "../../../lib/linux/system_call.ts";
import type { Mount } from "../../../lib/sandbox/mount_plan.ts";
import { MountViews } from "../../../lib/fs/sandboxed/helper/mount_views.ts";

const O_PATH = 0o10000000;

/** In view and machine, of processes by several names, and what is writable on the machine. */
const [writable, foreign, ...more] = Deno.args as [string, string, ...string[]];
const PATHS = ["/", "/etc", "/proc", "/proc/self", "/proc/thread-self", "/proc/1/root", foreign, ...more];

interface Sight {
  /** Negated error numbers, or 0. */
  readonly here: Record<string, number>;
  /** Whether another thread finds something. */
  readonly elsewhere: Record<string, boolean>;
  readonly capabilities: boolean;
  readonly canWrite: number;
}

async function look(): Promise<Sight> {
  const here: Record<string, number> = {}, elsewhere: Record<string, boolean> = {};
  for (const path of PATHS) {
    here[path] = outcome(openAt(AT_FDCWD, cBytes(path), O_PATH));
    // Not by `openAtInBackground`, which asks again here where it has failed there.
    elsewhere[path] = await fromAnotherThread(path);
  }
  return {
    here,
    elsewhere,
    capabilities: effective(),
    canWrite: outcome(openAt(AT_FDCWD, cBytes(writable), 0o101, 0o600)),
  };
}

function outcome(result: number): number {
  if (result >= 0) close(result);
  return Math.min(0, result);
}

const { symbols } = Deno.dlopen("libc.so.6", {
  openat: { parameters: ["i32", "buffer", "i32", "u32"], result: "i32", nonblocking: true },
});

async function fromAnotherThread(path: string): Promise<boolean> {
  const result = await inBackground(() => symbols.openat(AT_FDCWD, cBytes(path), O_PATH, 0));
  return outcome(result) === 0;
}

/** Whether any capability counts for this thread. */
function effective(): boolean {
  const header = new Uint8Array(new Uint32Array([0x20080522, 0]).buffer);
  const sets = new Uint32Array(6);
  if (systemCall(NUMBERS.capget, header, new Uint8Array(sets.buffer)) < 0) throw new Error("capget");
  return (sets[0]! | sets[3]!) !== 0;
}

const mounts: readonly Mount[] = [
  { kind: "readOnlyBind", path: "/" },
  { kind: "devices", path: "/dev" },
  { kind: "processes", path: "/proc" },
  { kind: "freeze", path: "/dev" },
];

/** What is mounted from outside while the helper is there already is waited for. */
async function line(): Promise<void> {
  await Deno.stdin.read(new Uint8Array(64));
}

const views = await MountViews.prepare();
const atRest = await look();
views.enter({ kind: "mounts", mounts });
const inView = await look();
views.leave();
const afterwards = await look();
console.log(JSON.stringify({ atRest, inView, afterwards }));
await line();
views.enter({ kind: "mounts", mounts });
const later = await look();
views.leave();
console.log(JSON.stringify({ later }));
