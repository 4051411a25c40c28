import { ExecError } from "../errors.ts";
import { MAX_MISSING_PATHS, MissingWatch } from "./missing_watch.ts";
import { checkHandleId, OpenFiles } from "./open_files.ts";
import type {
  Caller,
  DirectoryEntry,
  FileContent,
  FileOperations,
  MaybePromise,
  Metadata,
  NativePath,
  OpenFile,
  WalkOptions,
  WalkResult,
} from "./operations.ts";
import type { Claims, Line, PathClaim, Turns } from "./turns.ts";

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
export class ConnectionFiles implements Disposable {
  readonly #operations: FileOperations;
  readonly #caller: Caller;
  readonly #line: Line;
  readonly #files = new OpenFiles();
  readonly #watch: MissingWatch;

  constructor({ operations, turns, signal, budgetMs }: ConnectionFilesOptions) {
    this.#operations = operations;
    this.#caller = { signal, budgetMs };
    this.#line = turns.line(signal);
    this.#watch = new MissingWatch(operations);
  }

  readFile(path: NativePath, followSymlinks: boolean): MaybePromise<FileContent> {
    const claim = reads(path);
    return this.#inTurn([claim], () => this.#operations.readFile(claim.path, followSymlinks, this.#caller));
  }

  writeFile(path: NativePath, bytes: Uint8Array<ArrayBuffer>, followSymlinks: boolean): MaybePromise<void> {
    const claim = changes(path);
    return this.#inTurn([claim], () => this.#operations.writeFile(claim.path, bytes, followSymlinks, this.#caller));
  }

  createDirectory(
    path: NativePath,
    options: { readonly recursive: boolean; readonly followSymlinks: boolean },
  ): MaybePromise<void> {
    const claim = makes(path);
    return this.#inTurn([claim], () => this.#operations.createDirectory(claim.path, options, this.#caller));
  }

  getMetadata(path: NativePath, followSymlinks: boolean): MaybePromise<Metadata> {
    const claim = reads(path);
    return this.#inTurn([claim], () => this.#operations.getMetadata(claim.path, followSymlinks, this.#caller));
  }

  canonicalize(path: NativePath): MaybePromise<NativePath> {
    const claim = reads(path);
    return this.#inTurn([claim], () => this.#operations.canonicalize(claim.path, this.#caller));
  }

  readDirectory(path: NativePath): MaybePromise<readonly DirectoryEntry[]> {
    const claim = readsTree(path);
    return this.#inTurn([claim], () => this.#operations.readDirectory(claim.path, this.#caller));
  }

  walk(path: NativePath, options: WalkOptions): MaybePromise<WalkResult> {
    const claim = readsTree(path);
    return this.#inTurn([claim], () => this.#operations.walk(claim.path, options, this.#caller));
  }

  remove(
    path: NativePath,
    options: { readonly recursive: boolean; readonly force: boolean; readonly followSymlinks: boolean },
  ): MaybePromise<void> {
    const claim = changes(path);
    return this.#inTurn([claim], () => this.#operations.remove(claim.path, options, this.#caller));
  }

  copy(source: NativePath, destination: NativePath, recursive: boolean): MaybePromise<void> {
    const from = readsTree(source), to = makes(destination);
    return this.#inTurn([from, to], () => this.#operations.copy(from.path, to.path, recursive, this.#caller));
  }

  /**
   * Opens a file under a name of at most 32 bytes that no other open file of this connection has.
   *
   * @param locate Gives the path, or refuses it: after the name and the number of open files have been looked at.
   * @param mode "replace" creates the file or empties it.
   */
  open(handleId: string, locate: () => NativePath, mode: "read" | "replace"): MaybePromise<void> {
    checkHandleId(handleId);
    let path: NativePath | undefined;
    let refusal: unknown;
    try {
      path = locate();
    } catch (error) {
      refusal = error;
    }
    const claims = path === undefined ? [] : [mode === "read" ? reads(path) : changes(path)];
    const place = (): NativePath => {
      if (path === undefined) throw refusal;
      return path;
    };
    const open = (path: NativePath): MaybePromise<OpenFile> =>
      mode === "read"
        ? this.#operations.openForReading(path, this.#caller)
        : this.#operations.openForReplacing(path, this.#caller);
    const handle = { id: handleId, changes: true, ...(path === undefined ? {} : { opens: path }) };
    return this.#inTurn(claims, () => this.#files.add(handleId, place, open), handle);
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
        this.#files.close(handleId);
        throw error;
      };
      try {
        const bytes = file.read(offset, length, this.#caller.signal);
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
    return this.#withFile(handleId, changes, (file) => file.write(offset, bytes, this.#caller.signal));
  }

  /** Harmless if no file of this name is open. */
  close(handleId: string): MaybePromise<void> {
    checkHandleId(handleId);
    return this.#inTurn([], () => this.#files.close(handleId), { id: handleId, changes: true });
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
    this.#files[Symbol.dispose]();
  }

  #inTurn<T>(paths: Claims["paths"], act: () => MaybePromise<T>, handle?: Claims["handle"]): MaybePromise<T> {
    return this.#line.run(handle === undefined ? { paths } : { paths, handle }, act);
  }

  /** Which file that is only turns out when it is its turn; until then whatever may be opened by then counts. */
  #withFile<T>(
    handleId: string,
    use: typeof reads,
    act: (file: OpenFile) => MaybePromise<T>,
  ): MaybePromise<T> {
    const open = this.#files.path(handleId);
    const opening = this.#line.opening(handleId);
    const paths = (open === undefined ? opening : [open, ...opening]).map(use);
    return this.#inTurn(paths, () => act(this.#files.get(handleId)), { id: handleId, changes: use === changes });
  }
}

function reads(path: NativePath): PathClaim {
  return { path, changes: false, tree: false, above: false };
}

function readsTree(path: NativePath): PathClaim {
  return { path, changes: false, tree: true, above: false };
}

function changes(path: NativePath): PathClaim {
  return { path, changes: true, tree: true, above: false };
}

/** Makes what is missing above the path as well. */
function makes(path: NativePath): PathClaim {
  return { path, changes: true, tree: true, above: true };
}

function checkBlock(kind: "read" | "write", length: number): void {
  if (length >= 1 && length <= MAX_BLOCK_BYTES) return;
  throw new ExecError("invalidRequest", `file ${kind} block length must be between 1 and ${MAX_BLOCK_BYTES}`);
}
