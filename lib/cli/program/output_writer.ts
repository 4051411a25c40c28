import type { Output } from "../command.ts";
import { concat } from "./concat.ts";

/** What may wait while an earlier piece is being written; then whoever has more waits. */
const MAX_WAITING_BYTES = 256 * 1024;

/**
 * Writes pieces of output in order, also across descriptors. What comes while a piece is being written goes together as
 * the next one: a flood in small pieces costs few writes.
 */
export class OutputWriter {
  /** Told once, of the first write that fails: after it nothing is written any more. */
  onFailure: ((error: unknown) => void) | undefined;
  #failure: { readonly error: unknown } | undefined;
  #output: Output | undefined;
  #pieces: Uint8Array<ArrayBuffer>[] = [];
  #bytes = 0;
  /** Resolves when nothing waits any more, or nothing can be written any more. */
  #writing: Promise<void> | undefined;

  /**
   * Resolves when there is room for more.
   *
   * @throws What a write failed with.
   */
  async write(output: Output, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    if (this.#output !== output) {
      await this.flushed();
      this.#output = output;
    }
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    this.#writing ??= this.#writeAll(output);
    if (this.#bytes >= MAX_WAITING_BYTES) await this.flushed();
  }

  /**
   * Resolves when everything has been written.
   *
   * @throws What a write failed with.
   */
  async flushed(): Promise<void> {
    await this.#writing;
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #writeAll(output: Output): Promise<void> {
    try {
      while (this.#pieces.length > 0) {
        const piece = concat(this.#pieces);
        [this.#pieces, this.#bytes] = [[], 0];
        await output.write(piece);
      }
      this.#writing = undefined;
    } catch (error) {
      this.#failure = { error };
      this.onFailure?.(error);
    }
  }
}
