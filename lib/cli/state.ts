/**
 * What `exec --detach` leaves behind so that `ps`, `logs`, `attach` and `kill` find the process again: one file per
 * process in the user's state directory, for the user's eyes only. Session ids are keys to a running program, so files
 * that others can read are refused. Neither tokens nor arguments are ever stored.
 */

/** Where a detached process runs, as it was said on the command line. */
export type Target = { readonly url: string } | { readonly env: string };

export interface DetachedProcess {
  /** The process id, chosen by us: letters, digits, `-` and `_`. */
  readonly id: string;
  readonly target: Target;
  /** The file that holds the token, if the connection needed one; never the token itself. */
  readonly tokenFile?: string;
  readonly sessionId: string;
  readonly startedAt: Date;
  /** The program's name without its arguments: those may hold secrets. */
  readonly program: string;
}

/** The state cannot be used: the message says which file and what to do. */
export class StateError extends Error {
  override readonly name = "StateError";
}

/** Far more than any of our files has. */
const MAX_FILE_BYTES = 65_536;
/** Bits by which group or others could read or change a file. */
const OTHERS = 0o077;
const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/**
 * The directory for the program's state: `$XDG_STATE_HOME/exec-server` or `~/.local/state/exec-server`; on macOS below
 * `~/Library/Application Support`, on Windows below `%LOCALAPPDATA%`.
 *
 * @throws {StateError} If the environment names no home.
 */
export function stateDirectory(
  env: (name: string) => string | undefined,
  os: typeof Deno.build.os = Deno.build.os,
): string {
  if (os === "windows") {
    const local = env("LOCALAPPDATA");
    if (!local) throw new StateError("cannot tell where to keep state: LOCALAPPDATA is not set");
    return `${local}\\exec-server`;
  }
  const xdg = env("XDG_STATE_HOME");
  // The XDG rules say that a relative path counts as none.
  if (xdg?.startsWith("/")) return `${xdg}/exec-server`;
  const home = env("HOME");
  if (!home) throw new StateError("cannot tell where to keep state: neither XDG_STATE_HOME nor HOME is set");
  return os === "darwin" ? `${home}/Library/Application Support/exec-server` : `${home}/.local/state/exec-server`;
}

/** The detached processes of one user. */
export class DetachedProcesses {
  readonly #directory: string;

  /** @param stateDirectory As {@linkcode stateDirectory} says; made when something is saved. */
  constructor(stateDirectory: string) {
    this.#directory = `${stateDirectory}/detached`;
  }

  /**
   * Remembers a process. The file appears whole or not at all.
   *
   * @throws {StateError} If the directory can be read by others, or cannot be written.
   */
  async save(process: DetachedProcess): Promise<void> {
    if (!ID.test(process.id)) throw new TypeError(`not a name for a file: ${process.id}`);
    const temporary = `${this.#directory}/.${process.id}.${crypto.randomUUID()}`;
    try {
      await Deno.mkdir(this.#directory, { recursive: true, mode: 0o700 });
      this.#requirePrivate(this.#directory, await Deno.stat(this.#directory));
      await using undo = new AsyncDisposableStack();
      undo.defer(() => removeIfThere(temporary));
      await Deno.writeTextFile(temporary, encode(process), { createNew: true, mode: 0o600 });
      await Deno.rename(temporary, this.#path(process.id));
    } catch (error) {
      if (error instanceof StateError) throw error;
      throw new StateError(`cannot remember the process in ${this.#directory}: ${reason(error)}`, { cause: error });
    }
  }

  /**
   * All that are remembered, the oldest first, and what is wrong with files that cannot be read, can be read by others,
   * or are not what we wrote.
   *
   * @throws {StateError} If the directory cannot be read.
   */
  async list(): Promise<{ processes: DetachedProcess[]; faults: StateError[] }> {
    const faults: StateError[] = [];
    const found = await Promise.all((await this.#ids()).map(async (id) => {
      try {
        return await this.#read(id);
      } catch (error) {
        if (!(error instanceof StateError)) throw error;
        faults.push(error);
        return undefined;
      }
    }));
    const processes = found.filter((process) => process !== undefined)
      .sort((a, b) => a.startedAt.getTime() - b.startedAt.getTime() || (a.id < b.id ? -1 : 1));
    return { processes, faults: faults.sort((a, b) => (a.message < b.message ? -1 : 1)) };
  }

  /**
   * The one whose id is `text` or begins with it.
   *
   * @throws {StateError} If there is none, or more than one.
   */
  async find(text: string): Promise<DetachedProcess> {
    const ids = await this.#ids();
    const matching = ids.includes(text) ? [text] : ids.filter((id) => text !== "" && id.startsWith(text)).sort();
    const [id, another] = matching;
    if (id === undefined) {
      throw new StateError(`no detached process '${text}' is remembered; \`exec-server ps\` lists those that are`);
    }
    if (another !== undefined) {
      const shown = matching.slice(0, 5).join(", ") + (matching.length > 5 ? ", …" : "");
      throw new StateError(`'${text}' is the beginning of ${matching.length} ids: ${shown}`);
    }
    const process = await this.#read(id);
    if (process === undefined) throw new StateError(`detached process '${id}' has just been forgotten`);
    return process;
  }

  /** Forgets a process, whether or not it is remembered. */
  async forget(id: string): Promise<void> {
    if (ID.test(id)) await removeIfThere(this.#path(id));
  }

  #path(id: string): string {
    return `${this.#directory}/${id}.json`;
  }

  async #ids(): Promise<string[]> {
    const ids: string[] = [];
    try {
      for await (const { name } of Deno.readDir(this.#directory)) {
        const id = name.endsWith(".json") ? name.slice(0, -".json".length) : "";
        if (ID.test(id)) ids.push(id);
      }
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return [];
      throw new StateError(`cannot read ${this.#directory}: ${reason(error)}`, { cause: error });
    }
    return ids;
  }

  /** @returns Undefined if it is gone. */
  async #read(id: string): Promise<DetachedProcess | undefined> {
    const path = this.#path(id);
    let text: string;
    try {
      // Opening a pipe would wait for ever.
      if (!(await Deno.lstat(path)).isFile) throw new StateError(`${path} is no file; remove it`);
      using file = await Deno.open(path);
      const info = await file.stat();
      this.#requirePrivate(path, info);
      if (info.size > MAX_FILE_BYTES) throw new StateError(`${path} is too large to be ours`);
      text = await new Response(file.readable).text();
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      if (error instanceof StateError) throw error;
      throw new StateError(`cannot read ${path}: ${reason(error)}`, { cause: error });
    }
    const process = decode(text);
    if (process?.id !== id) throw new StateError(`${path} does not describe a detached process; remove it`);
    return process;
  }

  #requirePrivate(path: string, { mode, uid }: Deno.FileInfo): void {
    // Windows keeps the profile's directories private by other means.
    if (mode === null || Deno.build.os === "windows") return;
    if ((mode & OTHERS) !== 0) {
      throw new StateError(
        `${path} is open to other users (mode ${modeText(mode)}); \`chmod go= '${path}'\` closes it`,
      );
    }
    if (uid !== null && uid !== Deno.uid()) throw new StateError(`${path} belongs to another user`);
  }
}

function encode({ startedAt, ...rest }: DetachedProcess): string {
  return JSON.stringify({ version: 1, ...rest, startedAt: startedAt.toISOString() }, undefined, 2) + "\n";
}

/** @returns Undefined if the text is not one of ours. */
function decode(text: string): DetachedProcess | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof json !== "object" || json === null) return undefined;
  const { version, id, target, tokenFile, sessionId, startedAt, program } = json as Record<string, unknown>;
  if (version !== 1 || typeof id !== "string" || typeof sessionId !== "string" || typeof program !== "string") {
    return undefined;
  }
  const date = new Date(typeof startedAt === "string" ? startedAt : NaN);
  const where = decodeTarget(target);
  if (where === undefined || Number.isNaN(date.getTime())) return undefined;
  if (tokenFile !== undefined && typeof tokenFile !== "string") return undefined;
  return {
    id,
    target: where,
    ...(tokenFile === undefined ? {} : { tokenFile }),
    sessionId,
    startedAt: date,
    program,
  };
}

function decodeTarget(json: unknown): Target | undefined {
  if (typeof json !== "object" || json === null) return undefined;
  const { url, env } = json as Record<string, unknown>;
  if (typeof url === "string" && env === undefined) return { url };
  return typeof env === "string" && url === undefined ? { env } : undefined;
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function modeText(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, "0");
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
