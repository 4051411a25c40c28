import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Log } from "../../log.ts";
import type { ByteSink, ByteSource } from "../../rpc/stdio.ts";
import { protocolError, spawnError } from "../client_error.ts";
import type { GroupTarget, SignalName } from "../command_group.ts";
import { systemErrorText } from "../system_error.ts";
import { StreamSink, StreamSource, within } from "./streams.ts";

/** A program that speaks the protocol on its stdin and stdout. */
export interface CommandOptions {
  /** A path, or a name that is looked for in PATH. */
  readonly program: string;
  readonly args?: readonly string[];
  /** Variables besides the inherited ones, or instead of them. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Names of variables that the program must not see, in upper or lower case; stronger than `env`. Credentials that the
   * reference passes to no command are left out in any case.
   */
  readonly removeEnv?: readonly string[];
  /** Default: this process's own. */
  readonly cwd?: string;
}

/** A program that runs as our child. */
export interface SpawnedCommand extends GroupTarget {
  readonly stdout: ByteSource;
  readonly stdin: ByteSink;
  readonly stderr: ByteSource;
  /** Resolves when it has ended and its pipes are closed. */
  readonly closed: Promise<void>;
  /** What was written before still arrives, if the program reads. */
  closeStdin(): void;
}

/** Source: the reference's list of what no command of its may inherit. */
const NEVER_PASSED_ON = [
  "CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN",
  "NODE_REPL_AUTH_TOKEN",
  "OPENAI_FEDERATION_RULE_ID",
  "OPENAI_IDENTITY_TOKEN_FILE",
  "OPENAI_WORKLOAD_IDENTITY_CONTEXT",
];

/** How long what a program wrote may take to be read once it has ended, or reads no more itself. */
const LAST_WORDS_MS = 500;

/**
 * Starts a program in a process group of its own, with pipes to all three streams.
 *
 * @throws {ClientError} `spawn`, with the operating system's reason.
 */
export async function spawnCommand(options: CommandOptions, log: Log): Promise<SpawnedCommand> {
  const { program, args = [], cwd } = options;
  const [{ spawn }, { default: process }] = await Promise.all([import("node:child_process"), import("node:process")]);
  const env = environment(process.env, options);
  if ([program, cwd ?? "", ...args, ...Object.entries(env).flat()].some((text) => String(text).includes("\0"))) {
    throw spawnError("nul byte found in provided data");
  }
  // Node.js has words of its own for it; the system has these.
  if (program === "") throw spawnError("No such file or directory (os error 2)");
  const child = await started(() =>
    spawn(program, args, {
      ...(cwd === undefined ? {} : { cwd }),
      env,
      stdio: "pipe",
      // Makes it the leader of a group whose number is its process id. Windows has no groups.
      detached: process.platform !== "win32",
      windowsHide: true,
    })
  );
  const { pid } = child;
  // A group of 0 would be our own, and of 1 everything.
  if (pid === undefined || pid <= 1) throw spawnError(`the program has the process id ${pid}`);
  const target = process.platform === "win32" ? pid : -pid;
  return new ChildCommand(child, (signal) => send(() => process.kill(target, signal), log), log);
}

function environment(
  inherited: Readonly<Record<string, string | undefined>>,
  { env = {}, removeEnv = [] }: CommandOptions,
): Record<string, string | undefined> {
  const removed = new Set([...NEVER_PASSED_ON, ...removeEnv].map((name) => name.toUpperCase()));
  const all = Object.entries({ ...inherited, ...env });
  return Object.fromEntries(all.filter(([name]) => !removed.has(name.toUpperCase())));
}

/** Of some reasons Node.js tells by an event, of others at once: of arguments that are too long, for example. */
async function started(spawn: () => ChildProcess): Promise<ChildProcess> {
  let child: ChildProcess | undefined;
  try {
    child = spawn();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    child.once("spawn", resolve);
    child.once("error", reject);
    await promise;
    return child;
  } catch (error) {
    for (const stream of child?.stdio ?? []) stream?.destroy();
    throw spawnError(systemErrorText(error), error);
  }
}

/** @returns Whether there was a process to send it to. */
function send(kill: () => void, log: Log): boolean {
  try {
    kill();
    return true;
  } catch (error) {
    // ESRCH: the group has no process any more.
    if ((error as { code?: unknown }).code !== "ESRCH") {
      log.warn("exec-server command could not be signalled", { reason: systemErrorText(error) });
    }
    return false;
  }
}

class ChildCommand implements SpawnedCommand {
  readonly stdout: StreamSource;
  readonly stdin: ByteSink;
  readonly stderr: StreamSource;
  readonly exited: Promise<void>;
  readonly closed: Promise<void>;
  readonly signal: (name: SignalName | 0) => boolean;
  readonly #stdin: Writable;

  constructor(child: ChildProcess, signal: (name: SignalName | 0) => boolean, log: Log) {
    const { stdin, stdout, stderr } = child;
    this.signal = signal;
    this.#stdin = pipe(stdin, "stdin");
    this.stdout = new StreamSource(pipe(stdout, "stdout"));
    this.stderr = new StreamSource(pipe(stderr, "stderr"));
    this.stdin = new StreamSink(this.#stdin, () => within(LAST_WORDS_MS, this.stdout.closed));
    this.exited = new Promise((resolve) => child.once("exit", () => resolve()));
    child.on("error", (error) => log.warn("exec-server command", { reason: systemErrorText(error) }));
    this.closed = this.#letGo(new Promise((resolve) => child.once("close", () => resolve())));
  }

  closeStdin(): void {
    this.#stdin.end();
  }

  /** Others may hold the pipes although the program has ended. */
  async #letGo(closed: Promise<void>): Promise<void> {
    await this.exited;
    await within(LAST_WORDS_MS, closed);
    this.#stdin.destroy();
    this.stdout.release();
    this.stderr.release();
    await closed;
  }
}

function pipe<S extends Readable | Writable>(stream: S | null, name: string): S {
  if (stream === null) throw protocolError(`spawned exec-server command has no ${name}`);
  return stream;
}
