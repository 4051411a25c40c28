import type { PathUri } from "../path_uri.ts";
import type { Result } from "../protocol/methods.ts";
import { abortable } from "../abortable.ts";
import type { CallOptions } from "./calls.ts";
import type { FileCalls } from "./file_handle.ts";

type Metadata = Result<"fs/getMetadata">;

/**
 * Questions about files that are under way: equal ones share one request. There are never more than calls in flight.
 */
export class SharedMetadata {
  readonly #calls: FileCalls;
  readonly #asked = new Map<string, Promise<Metadata>>();

  constructor(calls: FileCalls) {
    this.#calls = calls;
  }

  /** @throws {ClientError} Or the signal's reason; the others go on waiting then. */
  get(path: PathUri, followSymlinks: boolean, options: CallOptions): Promise<Metadata> {
    const params = { path, followSymlinks, sandbox: null };
    const { signal, timeoutMs, trace } = options;
    // A time limit or a trace is one caller's own.
    if (timeoutMs !== undefined || trace !== undefined) return this.#calls.call("fs/getMetadata", params, options);
    const key = `${followSymlinks} ${path.text}`;
    const asked = this.#asked.get(key);
    if (asked !== undefined) return abortable(asked, signal);
    const asking = this.#calls.call("fs/getMetadata", params).finally(() => {
      if (this.#asked.get(key) === asking) this.#asked.delete(key);
    });
    this.#asked.set(key, asking);
    return abortable(asking, signal);
  }

  /** To be called before something is changed: whoever asks from now on shares no older answer. */
  forget(): void {
    this.#asked.clear();
  }
}
