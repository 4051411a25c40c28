import type { Params, Result } from "../protocol/methods.ts";
import type { CallOptions } from "./calls.ts";
import type { EnvironmentPath } from "./process.ts";

/** What every method of {@linkcode Files} takes. */
export interface FileOptions extends CallOptions {
  /** What confines the access, as `sandboxDocument` makes it; a server that cannot do that refuses. */
  readonly sandbox?: Params<"fs/readFile">["sandbox"];
  /** Default true. False: a path with a link anywhere in it is refused; not every method can be told so. */
  readonly followSymlinks?: boolean;
}

/** What is known of a path. */
export interface FileInfo {
  readonly isDirectory: boolean;
  readonly isFile: boolean;
  readonly isSymlink: boolean;
  /** In bytes. */
  readonly size: number;
  /** Null where the machine does not tell. */
  readonly birthtime: Date | null;
  readonly mtime: Date | null;
}

/** One entry of a directory. What a link leads to counts; links that lead nowhere are not listed. */
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
  /** The same as text. What is not UTF-8 becomes U+FFFD; a mark of the byte order stays. */
  readTextFile(path: EnvironmentPath, options?: FileOptions): Promise<string>;
  /**
   * Replaces the content, or makes the file. A stream is written in blocks; where the server cannot, it is collected and
   * written at once. What fails in the middle leaves what was written.
   */
  writeFile(
    path: EnvironmentPath,
    data: Uint8Array | string | ReadableStream<Uint8Array>,
    options?: FileOptions,
  ): Promise<void>;
  /** The same for a text. */
  writeTextFile(path: EnvironmentPath, text: string, options?: FileOptions): Promise<void>;
  /** The content in blocks of 1 MiB. Cancelling the stream closes the file. */
  open(
    path: EnvironmentPath,
    options?: FileOptions & { readonly offset?: number },
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /** Replaces the content by what is written. @throws {ClientError} `unsupported` without the capability. */
  create(path: EnvironmentPath, options?: FileOptions): Promise<WritableStream<Uint8Array>>;
  /** Not recursive: what is there already, or has no directory above it, is an error. Recursive: neither is. */
  mkdir(path: EnvironmentPath, options?: FileOptions & { readonly recursive?: boolean }): Promise<void>;
  /** In no order. */
  readDir(path: EnvironmentPath, options?: FileOptions): Promise<readonly DirectoryEntry[]>;
  /** Of what a link leads to. */
  stat(path: EnvironmentPath, options?: FileOptions): Promise<FileInfo>;
  /** Of a link itself it is known only that it is one: its size is 0 and its times are null. */
  lstat(path: EnvironmentPath, options?: FileOptions): Promise<FileInfo>;
  /** The path without links, as a `file:` URI. */
  realPath(path: EnvironmentPath, options?: FileOptions): Promise<string>;
  /** Default as Deno's: not recursive, and what is missing is an error. */
  remove(
    path: EnvironmentPath,
    options?: FileOptions & { readonly recursive?: boolean; readonly force?: boolean },
  ): Promise<void>;
  /** Replaces files that are there. A directory needs `recursive`. */
  copy(
    from: EnvironmentPath,
    to: EnvironmentPath,
    options?: FileOptions & { readonly recursive?: boolean },
  ): Promise<void>;
  /**
   * Files and directories below a path, as `file:` URIs. At most 64 levels, 10 000 directories and 50 000 entries, or what
   * the options say; `truncated` tells that there is more. What could not be read is in `errors`.
   */
  walk(
    path: EnvironmentPath,
    options?: FileOptions & Partial<Params<"fs/walk">["options"]>,
  ): Promise<Result<"fs/walk">>;
}
