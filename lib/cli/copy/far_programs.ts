import { abortable } from "../../abortable.ts";
import { ClientError } from "../../client/client_error.ts";
import type { CollectedOutput } from "../../client/process.ts";
import type { FarSide } from "./far_side.ts";
import { programPath, shownPath } from "./remote_path.ts";
import { CopyError } from "./target.ts";

/** What the small programs below may write; their complaints are short. */
const MAX_OUTPUT_BYTES = 65_536;

/**
 * What the wire has no method for, done by the usual programs of Unix where the machine has them: renaming, permission
 * bits, archives.
 */
export class FarPrograms {
  readonly #far: FarSide;
  /** Programs that turned out not to be there. */
  readonly #missing = new Set<string>();

  constructor(far: FarSide) {
    this.#far = far;
  }

  /**
   * Renames, replacing a file.
   *
   * @returns False if that cannot be done here; nothing has happened then.
   * @throws {CopyError} If it could, and failed.
   */
  async rename(from: string, to: string, signal?: AbortSignal): Promise<boolean> {
    const [source, target] = [this.path(from), this.path(to)];
    if (source === undefined || target === undefined) return false;
    const result = await this.run(["mv", "-f", source, target], signal);
    if (result === undefined) return false;
    if (result.code !== 0) throw new CopyError(`cannot put ${shownPath(to)} in place: ${complaint(result)}`);
    return true;
  }

  /** The permission bits of what a path leads to. @returns Undefined if they cannot be had. */
  async mode(uri: string, signal?: AbortSignal): Promise<number | undefined> {
    const path = this.path(uri);
    const result = path === undefined ? undefined : await this.run(["ls", "-ldL", path], signal);
    return result?.code === 0 ? modeOf(result.stdoutText) : undefined;
  }

  /** @returns Whether the bits are set now. */
  async setMode(uri: string, mode: number, signal?: AbortSignal): Promise<boolean> {
    const path = this.path(uri);
    if (path === undefined) return false;
    const result = await this.run(["chmod", mode.toString(8).padStart(4, "0"), path], signal);
    return result?.code === 0;
  }

  /** A new directory that others cannot look into. @returns False if there is no `mkdir`. */
  async makePrivateDirectory(uri: string, signal?: AbortSignal): Promise<boolean> {
    const path = this.path(uri);
    const result = path === undefined ? undefined : await this.run(["mkdir", "-m", "700", path], signal);
    if (result === undefined) return false;
    if (result.code !== 0) throw new CopyError(`cannot make ${shownPath(uri)}: ${complaint(result)}`);
    return true;
  }

  /** Whether trees can travel as archives: `tar` is there, and `mv` to put them in place. */
  async canArchive(signal?: AbortSignal): Promise<boolean> {
    if (this.path("file:///") === undefined) return false;
    const found = await this.run(["sh", "-c", "command -v tar && command -v mv && command -v mkdir"], signal);
    return found?.code === 0;
  }

  /** @returns Undefined if this machine has no such program, or none can be started. */
  async run(argv: readonly [string, ...string[]], signal?: AbortSignal): Promise<CollectedOutput | undefined> {
    if (this.#missing.has(argv[0])) return undefined;
    try {
      const options = { argv, maxOutputBytes: MAX_OUTPUT_BYTES, ...(signal === undefined ? {} : { signal }) };
      return await abortable(this.#far.environment.run(options), this.#far.over);
    } catch (error) {
      if (!(error instanceof ClientError) || error.dataKind?.startsWith("spawn") !== true) throw error;
      this.#missing.add(argv[0]);
      return undefined;
    }
  }

  /** As a program is given it. @returns Undefined if it cannot be. */
  path(uri: string): string | undefined {
    return programPath(uri, this.#far.info.platformOs ?? undefined);
  }
}

/** The permission bits in a line of `ls -l`, set-id and sticky bits left out. */
export function modeOf(line: string): number | undefined {
  const letters = /^[-a-zA-Z]([-r][-w][-xsS][-r][-w][-xsS][-r][-w][-xtT])/.exec(line)?.[1];
  if (letters === undefined) return undefined;
  return [...letters].reduce(
    (mode, letter) => mode * 2 + (letter === "-" || letter === "S" || letter === "T" ? 0 : 1),
    0,
  );
}

/** The last line of what a program said of its failure. */
export function complaint({ stderrText, code, signal }: CollectedOutput): string {
  const line = stderrText.trim().split("\n").at(-1);
  return line || (signal === null ? `exit code ${code}` : `ended by ${signal}`);
}
