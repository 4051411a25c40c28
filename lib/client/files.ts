import type { Params, Result } from "../protocol/methods.ts";
import type { CallOptions } from "./calls.ts";
import type { EnvironmentPath } from "./process.ts";

export interface FileOptions extends CallOptions {
  readonly sandbox?: Params<"fs/readFile">["sandbox"];
  /** Default true: a link at the end of the path is followed. */
  readonly followSymlinks?: boolean;
}

export interface FileInfo {
  readonly isDirectory: boolean;
  readonly isFile: boolean;
  readonly isSymlink: boolean;
  readonly size: number;
  /** Null where the machine does not tell. */
  readonly birthtime: Date | null;
  readonly mtime: Date | null;
}

export interface DirectoryEntry {
  /**
   * What is not UTF-8 in it is U+FFFD, and then it leads to no file. Servers list no bytes; who has them from elsewhere
   * (the output of `find -print0`) names the file by `PathUri.fromNative(bytes, "linux")`.
   */
  readonly name: string;
  readonly isDirectory: boolean;
  readonly isFile: boolean;
}

/** How a file operation failed, in the words of the server. */
export type FileErrorKind = "NotFound" | "InvalidInput" | "BrokenPipe" | "Other";

/**
 * The files of the environment's machine, in Deno's terms. Thousands of calls may be made at once; they are made in turn.
 *
 * @throws {FileError} Every method, with the server's words.
 */
export interface Files {
  /** The whole content, which must fit in memory. A file of more than 4 MiB is read by blocks. */
  readFile(path: EnvironmentPath, options?: FileOptions): Promise<Uint8Array<ArrayBuffer>>;
  readTextFile(path: EnvironmentPath, options?: FileOptions): Promise<string>;
  /** A stream is written in blocks to a handle; where the server cannot, it is collected and written at once. */
  writeFile(
    path: EnvironmentPath,
    data: Uint8Array | string | ReadableStream<Uint8Array>,
    options?: FileOptions,
  ): Promise<void>;
  writeTextFile(path: EnvironmentPath, text: string, options?: FileOptions): Promise<void>;
  /** The content in blocks of 1 MiB. Cancelling the stream closes the file. */
  open(
    path: EnvironmentPath,
    options?: FileOptions & { readonly offset?: number },
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /** Replaces the content by what is written. @throws {ClientError} `unsupported` without the capability. */
  create(path: EnvironmentPath, options?: FileOptions): Promise<WritableStream<Uint8Array>>;
  mkdir(path: EnvironmentPath, options?: FileOptions & { readonly recursive?: boolean }): Promise<void>;
  readDir(path: EnvironmentPath, options?: FileOptions): Promise<readonly DirectoryEntry[]>;
  stat(path: EnvironmentPath, options?: FileOptions): Promise<FileInfo>;
  lstat(path: EnvironmentPath, options?: FileOptions): Promise<FileInfo>;
  /** The path without links, as a `file:` URI. */
  realPath(path: EnvironmentPath, options?: FileOptions): Promise<string>;
  /** Default as Deno's: not recursive, and what is missing is an error. */
  remove(
    path: EnvironmentPath,
    options?: FileOptions & { readonly recursive?: boolean; readonly force?: boolean },
  ): Promise<void>;
  copy(
    from: EnvironmentPath,
    to: EnvironmentPath,
    options?: FileOptions & { readonly recursive?: boolean },
  ): Promise<void>;
  walk(
    path: EnvironmentPath,
    options?: FileOptions & Partial<Params<"fs/walk">["options"]>,
  ): Promise<Result<"fs/walk">>;
}
