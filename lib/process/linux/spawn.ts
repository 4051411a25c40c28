import { ExecError } from "../../errors.ts";
import { type Clock, systemClock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import { cString, cStringArray } from "../../linux/cstring.ts";
import * as libc from "../../linux/libc.ts";
import { type Child, type ChildEvents, DEFAULT_TERMINAL_SIZE, type LaunchSpec, type ProcessBackend } from "../child.ts";
import { checkStrings, pipeProgram, startFile } from "../program.ts";
import { findRenamedProgram } from "../renamed_program.ts";
import { findTerminalProgram } from "../terminal_program.ts";
import { homeDirectory, probe, shellForTerminal, workingDirectory } from "./machine.ts";
import { Exits } from "./exits.ts";
import { ProcessGroups } from "./groups.ts";
import { type ChildContext, LinuxChild, type StreamDescriptors } from "./linux_child.ts";
import { type DescriptorSource, posixSpawn } from "../../linux/posix_spawn.ts";
import { Poller } from "../../linux/poller.ts";
import { Reaper } from "./reaper.ts";
import { openPipes } from "./pipes.ts";
import { spawnError } from "./spawn_error.ts";
import { openTerminal } from "./terminal.ts";
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
  return {
    name: "linux",
    launch(spec, events) {
      if (disposed) throw new ExecError("internal", "the server is ending");
      watchdog.ensure();
      return spec.tty ? launchOnTerminal(context, spec, events) : launchOnPipes(context, spec, events);
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
  const { ours, theirs } = openPipes(spec.pipeStdin);
  const descriptors = spec.pipeStdin ? theirs : [NULL_DEVICE, ...theirs];
  return begin(context, { kind: "pipes", ...ours }, events, () => {
    try {
      return startFile(name, spec, probe, spawner(spec, spec.cwd, spec.env, descriptors));
    } finally {
      for (const fd of theirs) libc.close(fd);
    }
  });
}

function launchOnTerminal(context: ChildContext, spec: LaunchSpec, events: ChildEvents): Child {
  const { path, cwd } = spec.arg0 === null
    ? findTerminalProgram(spec, homeDirectory, probe)
    : findRenamedProgram(spec, homeDirectory, workingDirectory, probe);
  checkStrings(spec, cwd);
  const env = spec.env.has("SHELL") ? spec.env : new Map([...spec.env, ["SHELL", shellForTerminal()]]);
  const { master, slavePath } = openTerminal(spec.terminalSize ?? DEFAULT_TERMINAL_SIZE);
  return begin(context, { kind: "terminal", master }, events, () => {
    // A descriptor of the program itself is needed in a moment, when it is too late to fail for want of one.
    const place = libc.eventDescriptor();
    if (place < 0) return place;
    try {
      // The program is a session leader by then, so this first terminal that it opens becomes its controlling one.
      const terminal: DescriptorSource = { path: slavePath, flags: libc.O_RDWR };
      return startFile(path, { cwd, env }, probe, spawner(spec, cwd, env, [terminal, 0, 0]));
    } finally {
      libc.close(place);
    }
  });
}

/**
 * @param streams Belong to the child from here on, whatever happens.
 * @param start Gives a process id or a negated error number.
 */
function begin(context: ChildContext, streams: StreamDescriptors, events: ChildEvents, start: () => number): Child {
  const child = new LinuxChild(context, streams, events);
  try {
    const pid = start();
    if (pid < 0) throw spawnError(-pid);
    child.started(pid);
    return child;
  } catch (error) {
    child[Symbol.dispose]();
    throw error;
  }
}

const NULL_DEVICE: DescriptorSource = { path: cString("/dev/null"), flags: libc.O_RDONLY };

/** Everything but the file to run, made ready once for all candidates. */
function spawner(
  spec: LaunchSpec,
  cwd: Uint8Array,
  env: ReadonlyMap<string, string>,
  descriptors: readonly DescriptorSource[],
): (path: Uint8Array) => number {
  const argv = cStringArray([spec.arg0 ?? spec.argv[0]!, ...spec.argv.slice(1)]);
  const variables = [...env].sort(([one], [other]) => compareAsUtf8(one, other));
  const envp = cStringArray(variables.map(([name, value]) => `${name}=${value}`));
  const directory = cString(cwd);
  return (path) => posixSpawn({ path: cString(path), argv, env: envp, directory, descriptors });
}

/** The reference hands variables over in the order of their names' bytes, and programs such as `env` show it. */
function compareAsUtf8(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index++) {
    const difference = utf8Rank(one.charCodeAt(index)) - utf8Rank(other.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

/** In UTF-8 what needs surrogates sorts last, in UTF-16 before U+E000. */
function utf8Rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
