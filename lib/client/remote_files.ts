import { encodeBase64 } from "../base64.ts";
import type { PathUri } from "../path_uri.ts";
import type { Params, RequestName, Result } from "../protocol/methods.ts";
import type { EnvironmentInfo } from "../protocol/environment.ts";
import type { CallOptions } from "./calls.ts";
import { type ClientError, unsupported } from "./client_error.ts";
import { isUri, type PathContext, toPathUri } from "./environment_path.ts";
import { collected } from "./collected.ts";
import { A_LINK, fileInfo, isLinkItself } from "./file_info.ts";
import { FileError, fileError } from "./file_error.ts";
import { type FileCalls, FileHandle } from "./file_handle.ts";
import { readFrom, writeTo } from "./file_streams.ts";
import type { DirectoryEntry, FileInfo, FileOptions, Files } from "./files.ts";
import {
  MAX_ANSWER_DATA_BYTES,
  MAX_MESSAGE_DATA_BYTES,
  MAX_WHOLE_FILES_BY_BLOCKS,
  WHOLE_FILE_BYTES,
} from "./limits.ts";
import { Permits } from "../permits.ts";
import type { EnvironmentPath } from "./process.ts";
import { QueuedCalls } from "./queued_calls.ts";
import { SharedMetadata } from "./shared_metadata.ts";
import { walkLimits } from "./walk_limits.ts";
import { invalidBase64, readWhole, tooLarge, tooLargeToRead } from "./whole_file.ts";

/** Where the files are. */
export interface FilesHost extends FileCalls {
  info(options?: CallOptions): Promise<EnvironmentInfo>;
  /** Most bytes of a file in one message. Default {@linkcode MAX_MESSAGE_DATA_BYTES} and {@linkcode MAX_ANSWER_DATA_BYTES}. */
  readonly maxMessageDataBytes?: number;
}

type Sandbox = Params<"fs/readFile">["sandbox"];

/**
 * The files behind a server, by its `fs/*` methods. Nothing is repeated: an answer that got lost is an error. Calls beyond
 * what a connection takes at once wait in line.
 */
export class RemoteFiles implements Files {
  readonly #host: FilesHost;
  readonly #calls: QueuedCalls;
  readonly #metadata: SharedMetadata;
  /** For whole files that are read and written by blocks: as many are open. */
  readonly #byBlocks = new Permits(MAX_WHOLE_FILES_BY_BLOCKS);
  readonly #maxMessageDataBytes: number;
  readonly #maxAnswerDataBytes: number;
  /** What the environment has told of its paths; undefined until a path needed it. */
  #context: PathContext | undefined;

  constructor(host: FilesHost) {
    this.#host = host;
    this.#calls = new QueuedCalls(host);
    this.#metadata = new SharedMetadata(this.#calls);
    this.#maxMessageDataBytes = host.maxMessageDataBytes ?? MAX_MESSAGE_DATA_BYTES;
    this.#maxAnswerDataBytes = host.maxMessageDataBytes ?? MAX_ANSWER_DATA_BYTES;
  }

  async readFile(path: EnvironmentPath, options: FileOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const uri = await this.#uri(path, options);
    const size = await this.#sizeOf(uri, options);
    if (size > WHOLE_FILE_BYTES && await this.#canReadBlocks(options)) {
      return await this.#byBlocks.during(() => this.#readBlocks(uri, size, options), options.signal);
    }
    if (size > this.#maxAnswerDataBytes) throw tooLargeToRead(size, this.#maxAnswerDataBytes);
    try {
      return (await this.#calls.call("fs/readFile", { path: uri, ...wire(options) }, options)).dataBase64;
    } catch (error) {
      throw invalidBase64(error) ?? this.#failure(error);
    }
  }

  async readTextFile(path: EnvironmentPath, options?: FileOptions): Promise<string> {
    // A mark of the byte order stays, so that what is read and written back is the same.
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await this.readFile(path, options));
  }

  async writeFile(
    path: EnvironmentPath,
    data: Uint8Array | string | ReadableStream<Uint8Array>,
    options: FileOptions = {},
  ): Promise<void> {
    if (data instanceof ReadableStream) return await this.#writeStream(path, data, options);
    const bytes = (typeof data === "string" ? new TextEncoder().encode(data) : data) as Uint8Array<ArrayBuffer>;
    if (bytes.length > WHOLE_FILE_BYTES && await this.#canStream(options)) {
      return await this.#byBlocks.during(async () => {
        const writer = (await this.create(path, options)).getWriter();
        await writer.write(bytes);
        await writer.close();
      }, options.signal);
    }
    await this.#writeWhole(path, bytes, options);
  }

  async writeTextFile(path: EnvironmentPath, text: string, options?: FileOptions): Promise<void> {
    await this.writeFile(path, text, options);
  }

  async open(
    path: EnvironmentPath,
    options: FileOptions & { readonly offset?: number } = {},
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const { offset = 0 } = options;
    refuseNoFollow("fs/open", options);
    if (!Number.isSafeInteger(offset) || offset < 0) {
      throw new FileError("InvalidInput", `${offset} is no offset in a file`);
    }
    const handle = await this.#open(path, "read", options);
    return readFrom(handle, offset, { failure: (error) => this.#failure(error), signal: options.signal });
  }

  async create(path: EnvironmentPath, options: FileOptions = {}): Promise<WritableStream<Uint8Array>> {
    refuseNoFollow("fs/open", options);
    const { capabilities } = await this.#info(options);
    if (!capabilities["fileWriteStreaming"]) throw unsupported("exec-server does not support writable file streams");
    this.#metadata.forget();
    const handle = await this.#open(path, "replace", options);
    return writeTo(handle, { failure: (error) => this.#failure(error), signal: options.signal });
  }

  async mkdir(path: EnvironmentPath, options: FileOptions & { readonly recursive?: boolean } = {}): Promise<void> {
    const { recursive = false } = options;
    await this.#change(
      "fs/createDirectory",
      { path: await this.#uri(path, options), recursive, ...wire(options) },
      options,
    );
  }

  async readDir(path: EnvironmentPath, options: FileOptions = {}): Promise<readonly DirectoryEntry[]> {
    refuseNoFollow("fs/readDirectory", options);
    const params = { path: await this.#uri(path, options), sandbox: sandboxOf(options) };
    const { entries } = await this.#ask("fs/readDirectory", params, options);
    return entries.map(({ fileName, isDirectory, isFile }) => ({ name: fileName, isDirectory, isFile }));
  }

  async stat(path: EnvironmentPath, options: FileOptions = {}): Promise<FileInfo> {
    return fileInfo(await this.#getMetadata(await this.#uri(path, options), options));
  }

  async lstat(path: EnvironmentPath, options: FileOptions = {}): Promise<FileInfo> {
    const uri = await this.#uri(path, options);
    const { followSymlinks: _, ...others } = options;
    try {
      const found = await this.#getMetadata(uri, others);
      return found.isSymlink ? A_LINK : fileInfo(found);
    } catch (error) {
      // Links that lead nowhere, or in a circle, are there as well.
      if (!(error instanceof FileError) || error.kind !== "NotFound" && error.code !== "ELOOP") throw error;
      const isLink = await isLinkItself(uri, {
        realPath: (path) => this.realPath(path, others),
        stat: (path) => this.#getMetadata(path, { ...others, followSymlinks: false }),
      });
      if (isLink) return A_LINK;
      throw error;
    }
  }

  async realPath(path: EnvironmentPath, options: FileOptions = {}): Promise<string> {
    refuseNoFollow("fs/canonicalize", options);
    const params = { path: await this.#uri(path, options), sandbox: sandboxOf(options) };
    return (await this.#ask("fs/canonicalize", params, options)).path;
  }

  async remove(
    path: EnvironmentPath,
    options: FileOptions & { readonly recursive?: boolean; readonly force?: boolean } = {},
  ): Promise<void> {
    const { recursive = false, force = false } = options;
    await this.#change(
      "fs/remove",
      { path: await this.#uri(path, options), recursive, force, ...wire(options) },
      options,
    );
  }

  async copy(
    from: EnvironmentPath,
    to: EnvironmentPath,
    options: FileOptions & { readonly recursive?: boolean } = {},
  ): Promise<void> {
    refuseNoFollow("fs/copy", options);
    const { recursive = false } = options;
    const [sourcePath, destinationPath] = [await this.#uri(from, options), await this.#uri(to, options)];
    await this.#change("fs/copy", { sourcePath, destinationPath, recursive, sandbox: sandboxOf(options) }, options);
  }

  async walk(
    path: EnvironmentPath,
    options: FileOptions & Partial<Params<"fs/walk">["options"]> = {},
  ): Promise<Result<"fs/walk">> {
    refuseNoFollow("fs/walk", options);
    const params = { path: await this.#uri(path, options), options: walkLimits(options), sandbox: sandboxOf(options) };
    return await this.#ask("fs/walk", params, options);
  }

  async #writeStream(path: EnvironmentPath, data: ReadableStream<Uint8Array>, options: FileOptions): Promise<void> {
    if (await this.#canStream(options)) return await data.pipeTo(await this.create(path, options));
    const bytes = await collected(data, this.#maxMessageDataBytes, options.signal);
    if (bytes === undefined) throw tooLarge("the file", this.#maxMessageDataBytes);
    await this.#writeWhole(path, bytes, options);
  }

  async #writeWhole(path: EnvironmentPath, bytes: Uint8Array<ArrayBuffer>, options: FileOptions): Promise<void> {
    if (bytes.length > this.#maxMessageDataBytes) throw tooLarge(`${bytes.length} bytes`, this.#maxMessageDataBytes);
    const params = { path: await this.#uri(path, options), dataBase64: encodeBase64(bytes), ...wire(options) };
    await this.#change("fs/writeFile", params, options);
  }

  /** Whether a file may be written by blocks, under these options. */
  async #canStream({ sandbox, followSymlinks = true, ...options }: FileOptions): Promise<boolean> {
    const { capabilities } = await this.#info(options);
    if (!followSymlinks || !capabilities["fileWriteStreaming"]) return false;
    return !sandbox || capabilities["sandboxedFileStreaming"] === true;
  }

  async #canReadBlocks({ sandbox, followSymlinks = true, ...options }: FileOptions): Promise<boolean> {
    if (!followSymlinks) return false;
    return !sandbox || (await this.#info(options)).capabilities["sandboxedFileStreaming"] === true;
  }

  /** 0 for what is no file, and if the server does not say: it says why when the file is read. */
  async #sizeOf(uri: PathUri, options: FileOptions): Promise<number> {
    try {
      const { isFile, size } = await this.#getMetadata(uri, options);
      return isFile ? size : 0;
    } catch (error) {
      const isRefused = error instanceof FileError && error.kind !== "BrokenPipe" &&
        (error.cause as ClientError).kind === "server";
      if (isRefused) return 0;
      throw error;
    }
  }

  async #readBlocks(uri: PathUri, size: number, options: FileOptions): Promise<Uint8Array<ArrayBuffer>> {
    const handle = await this.#open(uri, "read", options);
    try {
      return await readWhole(handle, size, options.signal);
    } catch (error) {
      throw this.#failure(error);
    } finally {
      handle.closeInBackground();
    }
  }

  async #open(path: EnvironmentPath, mode: "read" | "replace", options: FileOptions): Promise<FileHandle> {
    const uri = await this.#uri(path, options);
    try {
      return await FileHandle.open(this.#calls, uri, mode, options);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async #getMetadata(path: PathUri, options: FileOptions): Promise<Result<"fs/getMetadata">> {
    const { followSymlinks = true, sandbox = null, ...call } = options;
    if (sandbox !== null) return await this.#ask("fs/getMetadata", { path, followSymlinks, sandbox }, options);
    try {
      return await this.#metadata.get(path, followSymlinks, call);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** As {@linkcode RemoteFiles.#ask}, for what changes something. */
  async #change<M extends RequestName>(method: M, params: Params<M>, options: CallOptions): Promise<void> {
    this.#metadata.forget();
    await this.#ask(method, params, options);
  }

  async #ask<M extends RequestName>(method: M, params: Params<M>, options: CallOptions): Promise<Result<M>> {
    try {
      return await this.#calls.call(method, params, options);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async #uri(path: EnvironmentPath, options: CallOptions): Promise<PathUri> {
    if (!isUri(path)) await this.#info(options);
    try {
      return toPathUri(path, this.#context ?? { cwd: null, platformOs: null });
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new FileError("InvalidInput", error.message, { cause: error });
    }
  }

  async #info({ signal }: CallOptions): Promise<EnvironmentInfo> {
    try {
      const info = await this.#host.info(signal === undefined ? {} : { signal });
      this.#context = info;
      return info;
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): unknown {
    return fileError(error, this.#context?.platformOs ?? null);
  }
}

function sandboxOf({ sandbox = null }: FileOptions): Sandbox {
  return sandbox;
}

function wire(options: FileOptions): { followSymlinks: boolean; sandbox: Sandbox } {
  return { followSymlinks: options.followSymlinks ?? true, sandbox: sandboxOf(options) };
}

function refuseNoFollow(method: RequestName, { followSymlinks = true }: FileOptions): void {
  if (!followSymlinks) throw new FileError("InvalidInput", `${method} cannot be told not to follow links`);
}
