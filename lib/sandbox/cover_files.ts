import { fromText, join } from "./byte_path.ts";
import type { BytePath } from "./policy.ts";

/** Two empty files that are mounted over others: bubblewrap takes what it binds from the machine. */
export interface CoverFiles {
  /** Of mode 000, for what is denied. */
  readonly unreadable: BytePath;
  /** Of mode 600, for what is missing and shall not be made. */
  readonly empty: BytePath;
}

/**
 * Makes the files, unless they are there.
 *
 * @param directory The server's own, of mode 700; hidden in every view, so that nobody inside can change them.
 * @throws {Error} If they cannot be made, or are no longer empty.
 */
export function makeCoverFiles(directory: string): CoverFiles {
  return { unreadable: make(directory, "unreadable", 0o000), empty: make(directory, "empty", 0o600) };
}

function make(directory: string, name: string, mode: number): BytePath {
  const path = `${directory}/${name}`;
  try {
    // Never through a link, and never with more than what it ends up with.
    Deno.openSync(path, { write: true, createNew: true, mode }).close();
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
  const { isFile, size, mode: found } = Deno.lstatSync(path);
  if (!isFile || size !== 0 || (found! & 0o7777) !== mode) {
    throw new Error(`${path} is not the empty file that we made`);
  }
  return join(fromText(directory), name);
}
