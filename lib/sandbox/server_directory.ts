import { ExecError } from "../errors.ts";
import { close } from "../linux/libc.ts";
import { fromText } from "./byte_path.ts";
import { type CoverFiles, makeCoverFiles } from "./cover_files.ts";
import { machineCalls } from "./mount_point_calls.ts";
import { openRecordDirectory } from "./mount_point_directory.ts";
import type { BytePath } from "./policy.ts";

/**
 * The directory that servers of one user share, beside their record of mount points: two empty files that cover others.
 * Nothing in it is worth anything to anybody, and it is hidden all the same.
 */
export class ServerDirectory implements Disposable {
  /** Of everything that is the servers' own. */
  readonly path: BytePath;
  readonly #covers: string;
  readonly #uid: number;
  /** Keeps those away who clear out old files. */
  #open: number | undefined;

  /** @param record Where the record of mount points lies. */
  constructor(record: string, uid: number) {
    const above = record.slice(0, record.lastIndexOf("/"));
    this.path = fromText(above);
    this.#covers = `${above}/covers`;
    this.#uid = uid;
  }

  /**
   * Makes the files, as far as they are missing.
   *
   * @throws {ExecError} `sandboxUnavailable` if it cannot, or they are not what we made.
   */
  covers(): CoverFiles {
    this.#open ??= openRecordDirectory(machineCalls, this.#covers, this.#uid);
    try {
      return makeCoverFiles(this.#covers);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this[Symbol.dispose](); // somebody may have removed it
      throw new ExecError("sandboxUnavailable", `sandbox unavailable: ${error.message}`);
    }
  }

  [Symbol.dispose](): void {
    if (this.#open !== undefined) close(this.#open);
    this.#open = undefined;
  }
}
