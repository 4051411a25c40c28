import type { PathUri } from "../path_uri.ts";
import type { Params, RequestName, Result } from "../protocol/methods.ts";
import { abortable } from "../abortable.ts";
import type { CallOptions } from "./calls.ts";
import { ClientError } from "./client_error.ts";
import type { ConnectionCallOptions } from "./server_connection.ts";

/** Where the requests about files go. */
export interface FileCalls {
  /** @throws {ClientError} What the server answered, or why no answer came. */
  call<M extends RequestName>(method: M, params: Params<M>, options?: ConnectionCallOptions): Promise<Result<M>>;
}

export interface OpenFileOptions extends CallOptions {
  readonly sandbox?: Params<"fs/open">["sandbox"];
}

/**
 * One open file of a connection. It does not survive the connection; a server keeps at most 128 for one.
 */
export class FileHandle {
  readonly #calls: FileCalls;
  readonly #handleId: string;
  readonly #options: CallOptions;
  #closed = false;

  private constructor(calls: FileCalls, handleId: string, options: CallOptions) {
    this.#calls = calls;
    this.#handleId = handleId;
    this.#options = options;
  }

  /** @throws {ClientError} Or the signal's reason; what has been opened all the same is closed. */
  static async open(
    calls: FileCalls,
    path: PathUri,
    mode: "read" | "replace",
    { signal, sandbox = null, ...options }: OpenFileOptions,
  ): Promise<FileHandle> {
    signal?.throwIfAborted();
    const handleId = randomHandleId();
    const handle = new FileHandle(calls, handleId, options);
    // Not given up together with its caller: only when it has been answered is there something to close.
    const opening = calls.call("fs/open", { handleId, path, mode, sandbox }, options);
    try {
      await abortable(opening, signal);
    } catch (error) {
      if (error instanceof ClientError && error.kind === "callTimeout") handle.closeInBackground();
      else if (!(error instanceof ClientError)) opening.then(() => handle.closeInBackground(), () => {});
      throw error;
    }
    return handle;
  }

  /** @throws {ClientError} Also if the block is not one that may be answered; or the signal's reason. */
  async read(offset: bigint, length: number, signal: AbortSignal): Promise<Result<"fs/readBlock">> {
    const params = { handleId: this.#handleId, offset, len: length };
    const block = await this.#calls.call("fs/readBlock", params, { ...this.#options, signal });
    const { length: got } = block.chunk;
    if (got > length) throw malformed(`returned ${got} bytes, more than the ${length} that were asked for`);
    if (got === 0 && !block.eof) throw malformed("returned an empty block before the end of the file");
    if (offset + BigInt(got) > MAX_OFFSET) throw malformed("went beyond the largest offset");
    return block;
  }

  /** @param bytes 1 to 1 MiB. */
  async write(offset: bigint, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> {
    const params = { handleId: this.#handleId, offset, chunk: bytes };
    await this.#calls.call("fs/writeBlock", params, { ...this.#options, signal });
  }

  async close(signal: AbortSignal): Promise<void> {
    this.#closed = true;
    await this.#calls.call("fs/close", { handleId: this.#handleId }, { ...this.#options, signal, cleanup: true });
  }

  /** For whoever does not want to know: that it fails means that the connection has ended, and the file with it. */
  closeInBackground(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#calls.call("fs/close", { handleId: this.#handleId }, { cleanup: true }).catch(() => {});
  }
}

const MAX_OFFSET = 2n ** 64n - 1n;

/** 32 hexadecimal digits, as long as a server allows. */
function randomHandleId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function malformed(what: string): ClientError {
  return new ClientError("protocol", `remote fs/readBlock ${what}`);
}
