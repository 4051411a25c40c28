import { ExecError } from "../errors.ts";
import type { MaybePromise, NativePath, OpenFile } from "./operations.ts";

/** Handles that a connection may have open at once. */
export const MAX_OPEN_FILES = 128;
/** Bytes of UTF-8 in the name of a handle. */
const MAX_ID_BYTES = 32;

interface Entry {
  readonly path: NativePath;
  /** Null while it is being opened. */
  file: OpenFile | null;
}

/** The open files of one connection under the names that the other side gave them. Leaving the scope closes all. */
export class OpenFiles implements Disposable {
  readonly #entries = new Map<string, Entry>();
  #left = false;

  /**
   * Keeps what `open` opens.
   *
   * @throws {ExecError} `invalidRequest` if the name is taken or there are {@linkcode MAX_OPEN_FILES}.
   */
  add(id: string, locate: () => NativePath, open: (path: NativePath) => MaybePromise<OpenFile>): MaybePromise<void> {
    if (this.#entries.has(id)) throw new ExecError("invalidRequest", `file handle \`${id}\` already exists`);
    if (this.#entries.size >= MAX_OPEN_FILES) {
      throw new ExecError("invalidRequest", `at most ${MAX_OPEN_FILES} file handles may be open per connection`);
    }
    const path = locate();
    const file = open(path);
    const entry: Entry = { path, file: null };
    if (!(file instanceof Promise)) {
      entry.file = file;
      this.#entries.set(id, entry);
      return;
    }
    this.#entries.set(id, entry);
    return file.then((file) => {
      if (this.#left) file[Symbol.dispose]();
      else entry.file = file;
    }, (error) => {
      this.#entries.delete(id);
      throw error;
    });
  }

  /** Where a file was when it was opened. */
  path(id: string): NativePath | undefined {
    return this.#entries.get(id)?.path;
  }

  /** @throws {ExecError} `notFound` if there is none of this name. */
  get(id: string): OpenFile {
    const file = this.#entries.get(id)?.file;
    if (file === undefined || file === null) throw new ExecError("notFound", `unknown file handle \`${id}\``);
    return file;
  }

  /** Harmless if there is none of this name. */
  close(id: string): void {
    this.#entries.get(id)?.file?.[Symbol.dispose]();
    this.#entries.delete(id);
  }

  [Symbol.dispose](): void {
    this.#left = true;
    for (const { file } of this.#entries.values()) file?.[Symbol.dispose]();
    this.#entries.clear();
  }
}

/** @throws {ExecError} `invalidRequest` */
export function checkHandleId(id: string): void {
  // No character takes less than a byte for each of its units, or more than three.
  if (id.length * 3 <= MAX_ID_BYTES) return;
  if (id.length > MAX_ID_BYTES || new TextEncoder().encode(id).length > MAX_ID_BYTES) {
    throw new ExecError("invalidRequest", `file handle ID must not exceed ${MAX_ID_BYTES} bytes`);
  }
}
