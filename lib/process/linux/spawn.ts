import { ExecError } from "../../errors.ts";
import { type Clock, systemClock } from "../../clock.ts";
import { lazily } from "../../lazily.ts";
import type { Log } from "../../log.ts";
import { cString, cStringArray } from "../../linux/cstring.ts";
import { type DescriptorSource, posixSpawn } from "../../linux/posix_spawn.ts";
import { Poller } from "../../linux/poller.ts";
import type { Child, ChildEvents, LaunchSpec, ProcessBackend } from "../child.ts";
import { checkStrings, pipeProgram, startFile } from "../program.ts";
import { findRenamedProgram } from "../renamed_program.ts";
import { findTerminalProgram } from "../terminal_program.ts";
import { begin } from "./begin.ts";
import { Exits } from "./exits.ts";
import { ProcessGroups } from "./groups.ts";
import type { ChildContext } from "./linux_child.ts";
import { homeDirectory, probe, withShell, workingDirectory } from "./machine.ts";
import { Reaper } from "./reaper.ts";
import { sortedVariables } from "./variables.ts";
import { Watchdog } from "./watchdog.ts";

export interface LinuxBackendOptions {
  readonly log: Log;
  readonly clock?: Clock;
  /** As process 1: whether a child was started elsewhere in this program, which then waits for it itself. */
  isOwnChild?(pid: number): boolean;
}

/** Launches programs through the C library; see `child.ts` for what is promised. */
export interface LinuxBackend extends ProcessBackend, Disposable, AsyncDisposable {
  launch(spec: LaunchSpec, events: ChildEvents): Child;
  /** Disposes of every child and kills every group, synchronously: the server may exit directly afterwards. */
  [Symbol.dispose](): void;
  /** The same, and waits until all exit statuses are taken and all descriptors are given back. */
  [Symbol.asyncDispose](): Promise<void>;
}

const confined = lazily(() => import("./confined.ts"));

/** @throws {Error} If the machine has no descriptors left. */
export function linuxBackend(options: LinuxBackendOptions): LinuxBackend {
  const { log, clock = systemClock } = options;
  const poller = new Poller(log);
  const exits = new Exits(poller, log);
  const watchdog = new Watchdog({ log, exits });
  const groups = new ProcessGroups({ register: watchdog, clock, log });
  const reaper = Deno.pid === 1 ? new Reaper({ ...options, exits, clock }) : null;
  const context: ChildContext = { poller, exits, groups, clock, children: new Set() };
  let disposed = false;
  const dispose = (): void => {
    if (disposed) return;
    disposed = true;
    for (const child of context.children) child[Symbol.dispose]();
    groups[Symbol.dispose](); // before the watchdog: what is listed when it goes it kills
    watchdog[Symbol.dispose]();
    reaper?.[Symbol.dispose]();
    poller[Symbol.dispose]();
  };
  const makeReady = (): void => {
    if (disposed) throw new ExecError("internal", "the server is ending");
    watchdog.ensure();
  };
  return {
    name: "linux",
    launch(spec, events) {
      makeReady();
      return spec.tty ? launchOnTerminal(context, spec, events) : launchOnPipes(context, spec, events);
    },
    async launchConfined(spec, enforcement, events, signal) {
      const { confinedProgram, startPrepared } = await confined();
      using prepared = await enforcement.prepare(confinedProgram(spec), signal);
      try {
        makeReady();
        signal.throwIfAborted();
        const start = (descriptors: readonly DescriptorSource[]) => startPrepared(prepared, descriptors);
        return begin({ context, spec, events, start, ended: () => prepared.ended() });
      } catch (error) {
        prepared.ended();
        throw error;
      }
    },
    [Symbol.dispose]: dispose,
    async [Symbol.asyncDispose](): Promise<void> {
      dispose();
      await exits.idle();
      await poller.idle();
    },
  };
}

function launchOnPipes(context: ChildContext, spec: LaunchSpec, events: ChildEvents): Child {
  const name = pipeProgram(spec);
  checkStrings(spec, spec.cwd);
  const start = (descriptors: readonly DescriptorSource[]): number =>
    startFile(name, spec, probe, spawner(spec, spec.cwd, spec.env, descriptors));
  return begin({ context, spec, events, start });
}

function launchOnTerminal(context: ChildContext, spec: LaunchSpec, events: ChildEvents): Child {
  const { path, cwd } = spec.arg0 === null
    ? findTerminalProgram(spec, homeDirectory, probe)
    : findRenamedProgram(spec, homeDirectory, workingDirectory, probe);
  checkStrings(spec, cwd);
  const env = withShell(spec.env);
  const start = (descriptors: readonly DescriptorSource[]): number =>
    startFile(path, { cwd, env }, probe, spawner(spec, cwd, env, descriptors));
  return begin({ context, spec, events, start });
}

/** Everything but the file to run, made ready once for all candidates. */
function spawner(
  spec: LaunchSpec,
  cwd: Uint8Array,
  env: ReadonlyMap<string, string>,
  descriptors: readonly DescriptorSource[],
): (path: Uint8Array) => number {
  const argv = cStringArray([spec.arg0 ?? spec.argv[0]!, ...spec.argv.slice(1)]);
  const envp = cStringArray(sortedVariables(env));
  const directory = cString(cwd);
  return (path) => posixSpawn({ path: cString(path), argv, env: envp, directory, descriptors });
}
