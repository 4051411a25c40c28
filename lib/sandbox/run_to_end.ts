import { type Clock, waitingClock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import { cString } from "../linux/cstring.ts";
import { cStrings, pread } from "../linux/sandbox_calls.ts";
import { errnoText } from "../linux/errno.ts";
import * as libc from "../linux/libc.ts";
import { ownChildren } from "../linux/own_children.ts";
import { type DescriptorSource, posixSpawn } from "../linux/posix_spawn.ts";
import { fromText, toBytes } from "./byte_path.ts";
import { memoryFile } from "./memory_file.ts";
import { OwnedLaunch } from "./prepared_launch.ts";
import type { PreparedLaunch } from "./sandbox.ts";
import type { TrialOutcome } from "./self_test.ts";

const FIRST_LOOK_MS = 1;
const LONGEST_LOOK_MS = 20;
const SIGKILL = 9;
/** Of each of the two outputs so much is looked at. */
const MAX_OUTPUT_BYTES = 64 * 1024;

/**
 * Runs what was prepared, with empty input, as far as its own process goes.
 *
 * @param signal Kills it.
 * @throws {ExecError} `sandboxUnavailable` if it cannot be started. The reason of the signal if that is aborted.
 */
export async function runToEnd(
  launch: PreparedLaunch,
  signal: AbortSignal,
  clock: Clock = waitingClock,
): Promise<TrialOutcome> {
  using scope = new DisposableStack();
  const outputs = ["output", "errors"].map((name) => scope.adopt(memoryFile(name, new Uint8Array()), libc.close));
  try {
    const pid = start(launch, outputs);
    launch.started(pid);
    const status = await ended(pid, signal, clock);
    const [stdout, stderr] = outputs.map(contents);
    const killedBy = status & 0x7f;
    return { exitCode: killedBy === 0 ? status >> 8 & 0xff : 128 + killedBy, stdout: stdout!, stderr: stderr! };
  } finally {
    launch.ended();
  }
}

/** Runs a file of the machine's with an empty environment; see {@linkcode runToEnd}. */
export function runFile(path: string, args: readonly string[], signal: AbortSignal): Promise<TrialOutcome> {
  const argv = [path, ...args].map(fromText);
  return runToEnd(new OwnedLaunch({ path: argv[0]!, argv, env: [], descriptors: [] }), signal);
}

function start(prepared: PreparedLaunch, outputs: readonly number[]): number {
  using launch = prepared;
  const streams = [{ path: cString("/dev/null"), flags: libc.O_RDONLY }, ...outputs];
  const pid = launch.handOver?.(streams) ?? spawn(launch, streams);
  if (pid < 0) throw new ExecError("sandboxUnavailable", `it cannot be started: ${errnoText(-pid)}`);
  ownChildren.add(pid);
  return pid;
}

function spawn(launch: PreparedLaunch, streams: readonly DescriptorSource[]): number {
  const [argv, env] = [cStrings(launch.argv), cStrings(launch.env)];
  return posixSpawn({
    path: cString(toBytes(launch.path)),
    argv: { pointers: argv.block, block: argv.block },
    env: { pointers: env.block, block: env.block },
    directory: cString("/"),
    descriptors: [...streams, ...launch.descriptors],
  });
}

async function ended(pid: number, signal: AbortSignal, clock: Clock): Promise<number> {
  try {
    for (let wait = FIRST_LOOK_MS;; wait = Math.min(2 * wait, LONGEST_LOOK_MS)) {
      const taken = libc.reap(pid);
      if (typeof taken === "number") throw new Error(`nobody knows how it ended: ${errnoText(-taken)}`);
      if (taken !== null) {
        signal.throwIfAborted();
        return taken.status;
      }
      if (signal.aborted) libc.symbols.kill(-pid, SIGKILL);
      await new Promise<void>((resolve) => clock.after(wait, resolve));
    }
  } finally {
    ownChildren.delete(pid);
  }
}

function contents(file: number): string {
  const buffer = new Uint8Array(new ArrayBuffer(MAX_OUTPUT_BYTES));
  return new TextDecoder().decode(buffer.subarray(0, Math.max(0, pread(file, buffer, 0))));
}
