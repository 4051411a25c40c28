import type { Log } from "../../log.ts";
import type { Enforcement } from "../../sandbox/sandbox.ts";
import { type Child, type ChildEvents, DEFAULT_TERMINAL_SIZE, type LaunchSpec, type ProcessBackend } from "../child.ts";
import type { ChildContext } from "./child_context.ts";
import { LedGroups } from "./group.ts";
import type { Launch } from "./launch.ts";

/**
 * Launches programs through node:child_process and node-pty, where there is no back end of the system's own. Both are
 * loaded when the first program needs them.
 *
 * What it does less well than `linux/`, all of it measured on Linux:
 *
 * - Starting costs 3 ms with a small server and 80 ms with one of 2 GB, which stands still meanwhile: `detached`,
 *   without which a program and its children cannot be killed together, makes the runtime fork.
 * - An executable text without `#!` is run by a shell instead of being refused (`Exec format error`).
 * - The exit is noticed by the runtime before it is by us: a signal in between could reach a stranger's group, if the
 *   number had been given away within that moment.
 * - Output within 50 ms after the exit is taken for output before it.
 * - Bytes for a background child that shares the stdin of a program that has exited are dropped.
 * - A program on pipes that dies of a real-time signal takes us with it: the runtime (2.9.6) does not know the signal's
 *   name and throws where nobody can catch it. Only Linux has such signals, and a back end of its own.
 *
 * On a terminal, moreover:
 *
 * - argv[0] is always the file that was found.
 * - The program gets `TERM` and `PWD`, whether or not its environment says so, and other values for `PWD`.
 * - Input is lost, and nothing further arrives, once more is on its way than the terminal holds (about 14 KB).
 * - About one in three thousand programs loses the end of its output; one that exits while its output is paused loses
 *   what was not read within 200 ms.
 * - The exit is reported when the terminal ends, not before.
 *
 * On Windows there are no groups: only the program itself is killed, and SIGINT ends it.
 */
export function portableBackend(options: { readonly log: Log }): PortableBackend {
  return new NodeBackend(options.log);
}

export interface PortableBackend extends ProcessBackend, Disposable {
  launch(spec: LaunchSpec, events: ChildEvents): Promise<Child>;
  /** Resolves when no program that was started here is running any more. */
  idle(): Promise<void>;
}

class NodeBackend implements PortableBackend {
  readonly name = "portable";
  readonly #groups: LedGroups;
  readonly #log: Log;
  #isDisposed = false;

  constructor(log: Log) {
    this.#log = log;
    this.#groups = new LedGroups(log);
  }

  async launch(spec: LaunchSpec, events: ChildEvents): Promise<Child> {
    const launch = spec.tty
      ? await (await import("./terminal.ts")).launchForTerminal(spec)
      : await (await import("./pipes.ts")).launchForPipes(spec);
    return await this.#start(spec, launch, events);
  }

  async launchConfined(
    spec: LaunchSpec,
    enforcement: Enforcement,
    events: ChildEvents,
    signal: AbortSignal,
  ): Promise<Child> {
    const { launchPrepared } = await import("./confined.ts");
    return await launchPrepared(spec, enforcement, signal, (launch) => this.#start(spec, launch, events));
  }

  async #start(spec: LaunchSpec, launch: Launch, events: ChildEvents): Promise<Child> {
    const context: ChildContext = { events, groups: this.#groups, log: this.#log };
    const child = spec.tty
      ? (await import("./terminal.ts")).startOnTerminal(launch, spec.terminalSize ?? DEFAULT_TERMINAL_SIZE, context)
      : await (await import("./pipes.ts")).startOnPipes(launch, spec.pipeStdin, context);
    if (this.#isDisposed) child[Symbol.dispose]();
    return child;
  }

  idle(): Promise<void> {
    return this.#groups.idle();
  }

  /** Kills every group; a program that is only just being started dies when it has been. */
  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#groups[Symbol.dispose]();
  }
}
