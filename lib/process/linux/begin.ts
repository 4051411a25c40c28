/** Starts a program on new pipes or on a new terminal. */

import { cString } from "../../linux/cstring.ts";
import * as libc from "../../linux/libc.ts";
import type { DescriptorSource } from "../../linux/posix_spawn.ts";
import { type Child, type ChildEvents, DEFAULT_TERMINAL_SIZE, type LaunchSpec } from "../child.ts";
import { type ChildContext, LinuxChild, type StreamDescriptors } from "./linux_child.ts";
import { openPipes } from "./pipes.ts";
import { spawnError } from "./spawn_error.ts";
import { openTerminal } from "./terminal.ts";

export interface Beginning {
  readonly context: ChildContext;
  readonly spec: LaunchSpec;
  readonly events: ChildEvents;
  /** Starts a file with these descriptors from 0 on: its process id, or a negated error number. */
  start(descriptors: readonly DescriptorSource[]): number;
  /**
   * The program's exit status has been taken, whether or not anybody still wants its events.
   *
   * @returns Resolves when nothing is left of the sandbox around it.
   */
  ended?(): Promise<void> | undefined;
}

/** @throws {ExecError} If the system refuses a step of the start; nothing is left open, and nobody hears of an end. */
export function begin(beginning: Beginning): Child {
  return beginning.spec.tty ? onTerminal(beginning) : onPipes(beginning);
}

function onPipes(beginning: Beginning): Child {
  const { pipeStdin } = beginning.spec;
  const { ours, theirs } = openPipes(pipeStdin);
  const descriptors = pipeStdin ? theirs : [NULL_DEVICE, ...theirs];
  return beginOn({ kind: "pipes", ...ours }, beginning, () => {
    try {
      return beginning.start(descriptors);
    } finally {
      for (const fd of theirs) libc.close(fd);
    }
  });
}

const NULL_DEVICE: DescriptorSource = { path: cString("/dev/null"), flags: libc.O_RDONLY };

function onTerminal(beginning: Beginning): Child {
  const { master, slavePath } = openTerminal(beginning.spec.terminalSize ?? DEFAULT_TERMINAL_SIZE);
  return beginOn({ kind: "terminal", master }, beginning, () => {
    // A descriptor of the program itself is needed in a moment, when it is too late to fail for want of one.
    const place = libc.eventDescriptor();
    if (place < 0) return place;
    try {
      // The program is a session leader by then, so this first terminal that it opens becomes its controlling one.
      const terminal: DescriptorSource = { path: slavePath, flags: libc.O_RDWR };
      return beginning.start([terminal, 0, 0]);
    } finally {
      libc.close(place);
    }
  });
}

/** @param streams Belong to the child from here on, whatever happens. */
function beginOn(streams: StreamDescriptors, { context, events, ended }: Beginning, start: () => number): Child {
  const child = new LinuxChild(context, streams, events);
  try {
    const pid = start();
    if (pid < 0) throw spawnError(-pid);
    child.started(pid, ended);
    return child;
  } catch (error) {
    child[Symbol.dispose]();
    throw error;
  }
}
