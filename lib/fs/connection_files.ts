import { ExecError } from "../errors.ts";
import { changes, FileRequests, type OperationsOf, reads, type RequestScope } from "./file_requests.ts";
import { MAX_MISSING_PATHS, MissingWatch } from "./missing_watch.ts";
import { checkHandleId, OpenFiles } from "./open_files.ts";
import type { FileOperations, MaybePromise, NativePath, OpenFile } from "./operations.ts";
import type { Claims, Turns } from "./turns.ts";

/** Bytes that one read or write of an open file may move. */
const MAX_BLOCK_BYTES = 1024 * 1024;
/** A written range must end here. */
const MAX_OFFSET = 2n ** 63n - 1n;

export interface ConnectionFilesOptions {
  readonly operations: FileOperations;
  /** Those of the whole server. */
  readonly turns: Turns;
  /** Aborted when the connection has ended: from then on nothing is changed any more. */
  readonly signal: AbortSignal;
  /** How long its requests may work without a break now, in milliseconds. */
  budgetMs(): number;
}

/** What one connection does with files: its requests in their order, and its open files, closed with the scope. */
export class ConnectionFiles extends FileRequests implements Disposable {
  readonly #scope: RequestScope;
  readonly #watch: MissingWatch;

  constructor({ operations, turns, signal, budgetMs }: ConnectionFilesOptions) {
    const scope = { caller: { signal, budgetMs }, line: turns.line(signal), files: new OpenFiles() };
    super(scope, () => operations);
    this.#scope = scope;
    this.#watch = new MissingWatch(operations);
  }

  /** Requests of the same connection that work with other operations; what they open is open for all. */
  within(operations: OperationsOf): FileRequests {
    return new FileRequests(this.#scope, operations);
  }

  /**
   * Reads up to `length` bytes, 1 to 1 MiB, from `offset` on; fewer only at the end of the file, of which `eof` tells. A
   * failure of the system closes the file.
   */
  readBlock(
    handleId: string,
    offset: bigint,
    length: number,
  ): MaybePromise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly eof: boolean }> {
    checkHandleId(handleId);
    checkBlock("read", length);
    return this.#withFile(handleId, reads, (file) => {
      const block = (bytes: Uint8Array<ArrayBuffer>) => ({ bytes, eof: bytes.length < length });
      const failed = (error: unknown): never => {
        this.#scope.files.close(handleId);
        throw error;
      };
      try {
        const bytes = file.read(offset, length, this.#scope.caller.signal);
        return bytes instanceof Promise ? bytes.then(block, failed) : block(bytes);
      } catch (error) {
        return failed(error);
      }
    });
  }

  /** Writes 1 byte to 1 MiB at `offset`. Whatever fails, the file stays open. */
  writeBlock(handleId: string, offset: bigint, bytes: Uint8Array<ArrayBuffer>): MaybePromise<void> {
    checkHandleId(handleId);
    checkBlock("write", bytes.length);
    if (offset + BigInt(bytes.length) > MAX_OFFSET) {
      throw new ExecError("invalidRequest", "file write range exceeds the signed 64-bit file offset limit");
    }
    return this.#withFile(handleId, changes, (file) => file.write(offset, bytes, this.#scope.caller.signal));
  }

  /** Harmless if no file of this name is open. */
  close(handleId: string): MaybePromise<void> {
    checkHandleId(handleId);
    return this.#inTurn([], () => this.#scope.files.close(handleId), { id: handleId, changes: true });
  }

  /**
   * Takes the place of the watch before it, once what came before has been done to the paths; see
   * {@linkcode MissingWatch.watch}.
   *
   * @param missing None at all if one of the paths, or `present`, is none that this machine can have.
   */
  watchMissing(
    watchId: bigint,
    missing: readonly NativePath[],
    present: NativePath | null,
    changed: () => void,
  ): MaybePromise<boolean> {
    const watch = () => this.#watch.watch(watchId, missing, present, changed);
    if (missing.length > MAX_MISSING_PATHS) return watch();
    return this.#inTurn([...missing, ...(present === null ? [] : [present])].map(reads), watch);
  }

  [Symbol.dispose](): void {
    this.#watch[Symbol.dispose]();
    this.#scope.files[Symbol.dispose]();
  }

  #inTurn<T>(paths: Claims["paths"], act: () => MaybePromise<T>, handle?: Claims["handle"]): MaybePromise<T> {
    return this.#scope.line.run(handle === undefined ? { paths } : { paths, handle }, act);
  }

  /** Which file that is only turns out when it is its turn; until then whatever may be opened by then counts. */
  #withFile<T>(
    handleId: string,
    use: typeof reads,
    act: (file: OpenFile) => MaybePromise<T>,
  ): MaybePromise<T> {
    const open = this.#scope.files.path(handleId);
    const opening = this.#scope.line.opening(handleId);
    const paths = (open === undefined ? opening : [open, ...opening]).map(use);
    return this.#inTurn(paths, () => act(this.#scope.files.get(handleId)), { id: handleId, changes: use === changes });
  }
}

function checkBlock(kind: "read" | "write", length: number): void {
  if (length >= 1 && length <= MAX_BLOCK_BYTES) return;
  throw new ExecError("invalidRequest", `file ${kind} block length must be between 1 and ${MAX_BLOCK_BYTES}`);
}
