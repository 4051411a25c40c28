/** What can be done with files, whatever system carries it out. */

import type { NativePath } from "../native_path.ts";

export type { NativePath };

/** Whatever can be answered at once is: a promise costs more than a small read. */
export type MaybePromise<T> = T | Promise<T>;

export interface Metadata {
  readonly isDirectory: boolean;
  readonly isFile: boolean;
  readonly isSymlink: boolean;
  /** Bytes; 0 for what is neither a file nor a directory. */
  readonly size: number;
  /** Milliseconds since 1970, cut off. */
  readonly createdAtMs: number;
  readonly modifiedAtMs: number;
}

export interface DirectoryEntry {
  /** What is no UTF-8 shows as U+FFFD. */
  readonly fileName: string;
  readonly isDirectory: boolean;
  readonly isFile: boolean;
}

export interface WalkOptions {
  readonly maxDepth: number;
  readonly maxDirectories: number;
  readonly maxEntries: number;
  readonly followDirectorySymlinks: boolean;
  readonly pruneHiddenDirectories: boolean;
  /** How the caller names the directory: URIs in the answer begin like it. By default the usual URI of the path. */
  readonly uri?: string;
}

export interface WalkResult {
  /** Paths are URIs. */
  readonly entries: readonly { readonly path: string; readonly kind: "file" | "directory" }[];
  readonly errors: readonly { readonly path: string; readonly message: string }[];
  readonly truncated: boolean;
}

/** For whom something is done. */
export interface Caller {
  /** Aborted when nobody wants it any more. */
  readonly signal: AbortSignal;
  /** How long to work without a break now, in milliseconds. */
  budgetMs(): number;
}

/** A file that stays the one it was when it was opened. Leaving its scope closes it. */
export interface OpenFile extends Disposable {
  /**
   * Reads up to `length` bytes from `offset` on; fewer only at the end of the file. Their buffer may be one of the pool's
   * (`buffer_pool.ts`).
   *
   * @param offset Any 64-bit number without a sign.
   * @throws {ExecError} What the system says: `invalidRequest` "Invalid argument (os error 22)" if the range does not end
   * below 2^63.
   */
  read(offset: bigint, length: number, signal: AbortSignal): MaybePromise<Uint8Array<ArrayBuffer>>;
  /**
   * Writes all bytes at `offset`; a gap before them reads as zeros.
   *
   * @param offset The range ends below 2^63.
   * @throws {ExecError} What the system says.
   */
  write(offset: bigint, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): MaybePromise<void>;
  /** No further call; those that were made still come to their end. */
  [Symbol.dispose](): void;
}

/**
 * The operations of one system. All of them throw `ExecError`: `notFound` for ENOENT, `invalidRequest` for EACCES, EPERM,
 * EINVAL and every refusal in words, `internal` for the rest. Work that takes longer is done in slices, so that others get
 * their turn; before each further change an aborted signal ends it, with the signal's reason.
 */
export interface FileOperations {
  /** The whole of a regular file; what is too large for the wire is refused (`read_limit.ts`). */
  readFile(path: NativePath, followSymlinks: boolean, caller: Caller): MaybePromise<FileContent>;
  openForReading(path: NativePath, caller: Caller): MaybePromise<OpenFile>;
  /** Creates the file or empties it, in place. */
  openForReplacing(path: NativePath, caller: Caller): MaybePromise<OpenFile>;
  /** Creates the file or empties it, then writes the bytes; in place. */
  writeFile(
    path: NativePath,
    bytes: Uint8Array<ArrayBuffer>,
    followSymlinks: boolean,
    caller: Caller,
  ): MaybePromise<void>;
  createDirectory(
    path: NativePath,
    options: { readonly recursive: boolean; readonly followSymlinks: boolean },
    caller: Caller,
  ): MaybePromise<void>;
  getMetadata(path: NativePath, followSymlinks: boolean, caller: Caller): MaybePromise<Metadata>;
  /** The path without links; everything in it must exist. */
  canonicalize(path: NativePath, caller: Caller): MaybePromise<NativePath>;
  readDirectory(path: NativePath, caller: Caller): MaybePromise<readonly DirectoryEntry[]>;
  walk(path: NativePath, options: WalkOptions, caller: Caller): MaybePromise<WalkResult>;
  remove(
    path: NativePath,
    options: { readonly recursive: boolean; readonly force: boolean; readonly followSymlinks: boolean },
    caller: Caller,
  ): MaybePromise<void>;
  copy(source: NativePath, destination: NativePath, recursive: boolean, caller: Caller): MaybePromise<void>;
  /**
   * Calls `changed` once, when one of the `missing` paths, or a missing directory above one, appears, or `present` changes
   * or goes away. Leaving the scope of the watch ends it without a call.
   *
   * @returns Null if there is nothing to wait for: no path, one that exists or can never be looked at, or a `present` that
   * is not a file or directory.
   */
  watchMissing(missing: readonly NativePath[], present: NativePath | null, changed: () => void): Disposable | null;
}

/** The content of a file on its way to the wire. Bytes may be in a buffer of the pool's (`buffer_pool.ts`). */
export type FileContent = Uint8Array<ArrayBuffer> | Base64Text;

/** Base64 of a large file as ASCII bytes, so that it need not be held as a string and as bytes at once. */
export interface Base64Text {
  readonly base64: Uint8Array<ArrayBuffer>;
}
