import type { FileHandle } from "./file_handle.ts";
import { FILE_BLOCK_BYTES } from "./limits.ts";

export interface FileStreamOptions {
  /** What the stream fails with, for what went wrong. */
  readonly failure: (error: unknown) => unknown;
  /** Fails the stream with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A server keeps few files open: those whose stream was dropped are closed as well, sooner or later. */
const dropped = new FinalizationRegistry((scope: StreamScope) => scope.end());

/**
 * The content of an open file from an offset on; one block is read ahead. The file is closed at its end, when reading
 * fails, and when the stream is cancelled.
 */
export function readFrom(
  handle: FileHandle,
  offset: number,
  { failure, signal }: FileStreamOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const scope = new StreamScope(handle, signal);
  let at = BigInt(offset);
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => scope.begin(controller),
    async pull(controller) {
      try {
        const { chunk, eof } = await handle.read(at, FILE_BLOCK_BYTES, scope.signal);
        at += BigInt(chunk.length);
        if (chunk.length > 0) controller.enqueue(chunk);
        if (!eof) return;
        scope.end();
        controller.close();
      } catch (error) {
        scope.end();
        throw failure(error);
      }
    },
    cancel: (reason) => scope.end(reason),
  });
  dropped.register(stream, scope);
  return stream;
}

/**
 * Writes to an open file from its beginning on, in blocks of 1 MiB: what has been written reaches the file when a block
 * is full, and at the close. Aborting the stream closes the file as it is then.
 */
export function writeTo(
  handle: FileHandle,
  { failure, signal }: FileStreamOptions,
): WritableStream<Uint8Array> {
  const scope = new StreamScope(handle, signal);
  const block = new Uint8Array(FILE_BLOCK_BYTES);
  let used = 0;
  let at = 0n;

  async function send(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await handle.write(at, bytes, scope.signal);
    at += BigInt(bytes.length);
  }

  async function append(chunk: Uint8Array<ArrayBuffer>): Promise<void> {
    for (let from = 0; from < chunk.length;) {
      if (used === 0 && chunk.length - from >= FILE_BLOCK_BYTES) {
        await send(chunk.subarray(from, from += FILE_BLOCK_BYTES));
        continue;
      }
      const length = Math.min(chunk.length - from, FILE_BLOCK_BYTES - used);
      block.set(chunk.subarray(from, from + length), used);
      used += length;
      from += length;
      if (used === FILE_BLOCK_BYTES) await flush();
    }
  }

  async function flush(): Promise<void> {
    if (used > 0) await send(block.subarray(0, used));
    used = 0;
  }

  const orFail = async (act: () => Promise<void>): Promise<void> => {
    try {
      await act();
    } catch (error) {
      scope.end();
      throw failure(error);
    }
  };
  const stream = new WritableStream<Uint8Array>({
    start(controller) {
      scope.begin(controller);
      // Ends a write that is under way; `abort` below is called only after it.
      controller.signal.addEventListener("abort", () => scope.end(controller.signal.reason), { once: true });
    },
    write: (chunk) =>
      orFail(async () => {
        if (!(chunk instanceof Uint8Array)) throw new TypeError("only bytes can be written to a file");
        await append(chunk as Uint8Array<ArrayBuffer>);
      }),
    close: () =>
      orFail(async () => {
        await flush();
        await handle.close(scope.signal);
        scope.end();
      }),
    abort: (reason) => scope.end(reason),
  });
  dropped.register(stream, scope);
  return stream;
}

/** What ends with a stream: the requests under way, the file, and listening to the caller's signal. */
class StreamScope {
  readonly #handle: FileHandle;
  readonly #outer: AbortSignal | undefined;
  readonly #aborter = new AbortController();
  #onAbort: (() => void) | undefined;

  constructor(handle: FileHandle, outer: AbortSignal | undefined) {
    this.#handle = handle;
    this.#outer = outer;
  }

  /** Aborted when the stream has ended. */
  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  /**
   * @param controller Fails with the reason when the caller's signal is aborted. A signal may live for long, and keeps
   * its listeners: not the stream as well.
   */
  begin(controller: { error(reason: unknown): void }): void {
    const weakly = new WeakRef(controller);
    this.#onAbort = () => {
      const reason: unknown = this.#outer?.reason;
      weakly.deref()?.error(reason);
      this.end(reason);
    };
    this.#outer?.addEventListener("abort", this.#onAbort, { once: true });
    if (this.#outer?.aborted) this.#onAbort();
  }

  end(reason?: unknown): void {
    if (this.#onAbort !== undefined) this.#outer?.removeEventListener("abort", this.#onAbort);
    this.#aborter.abort(reason);
    this.#handle.closeInBackground();
  }
}
