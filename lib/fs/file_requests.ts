import { checkHandleId, type OpenFiles } from "./open_files.ts";
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
import type { HandleClaim, Line, PathClaim } from "./turns.ts";

/** What the requests of one connection have in common. */
export interface RequestScope {
  readonly caller: Caller;
  readonly line: Line;
  readonly files: OpenFiles;
}

/** What a request works with; asked when its turn has come. What it throws is the request's failure. */
export type OperationsOf = () => MaybePromise<FileOperations>;

/** The requests of a connection that name paths, each in its turn. */
export class FileRequests {
  readonly #scope: RequestScope;
  readonly #operations: OperationsOf;

  constructor(scope: RequestScope, operations: OperationsOf) {
    this.#scope = scope;
    this.#operations = operations;
  }

  readFile(path: NativePath, followSymlinks: boolean): MaybePromise<FileContent> {
    const claim = reads(path);
    return this.#perform([claim], (files, caller) => files.readFile(claim.path, followSymlinks, caller));
  }

  writeFile(path: NativePath, bytes: Uint8Array<ArrayBuffer>, followSymlinks: boolean): MaybePromise<void> {
    const claim = changes(path);
    return this.#perform([claim], (files, caller) => files.writeFile(claim.path, bytes, followSymlinks, caller));
  }

  createDirectory(
    path: NativePath,
    options: { readonly recursive: boolean; readonly followSymlinks: boolean },
  ): MaybePromise<void> {
    const claim = makes(path);
    return this.#perform([claim], (files, caller) => files.createDirectory(claim.path, options, caller));
  }

  getMetadata(path: NativePath, followSymlinks: boolean): MaybePromise<Metadata> {
    const claim = reads(path);
    return this.#perform([claim], (files, caller) => files.getMetadata(claim.path, followSymlinks, caller));
  }

  canonicalize(path: NativePath): MaybePromise<NativePath> {
    const claim = reads(path);
    return this.#perform([claim], (files, caller) => files.canonicalize(claim.path, caller));
  }

  readDirectory(path: NativePath): MaybePromise<readonly DirectoryEntry[]> {
    const claim = readsTree(path);
    return this.#perform([claim], (files, caller) => files.readDirectory(claim.path, caller));
  }

  walk(path: NativePath, options: WalkOptions): MaybePromise<WalkResult> {
    const claim = readsTree(path);
    return this.#perform([claim], (files, caller) => files.walk(claim.path, options, caller));
  }

  remove(
    path: NativePath,
    options: { readonly recursive: boolean; readonly force: boolean; readonly followSymlinks: boolean },
  ): MaybePromise<void> {
    const claim = changes(path);
    return this.#perform([claim], (files, caller) => files.remove(claim.path, options, caller));
  }

  copy(source: NativePath, destination: NativePath, recursive: boolean): MaybePromise<void> {
    const from = readsTree(source), to = makes(destination);
    return this.#perform([from, to], (files, caller) => files.copy(from.path, to.path, recursive, caller));
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
    const { files, caller, line } = this.#scope;
    const open = (path: NativePath): MaybePromise<OpenFile> =>
      then(
        this.#operations(),
        (operations) =>
          mode === "read" ? operations.openForReading(path, caller) : operations.openForReplacing(path, caller),
      );
    const handle: HandleClaim = { id: handleId, changes: true, ...(path === undefined ? {} : { opens: path }) };
    return line.run({ paths: claims, handle }, () => files.add(handleId, place, open));
  }

  #perform<T>(
    paths: readonly PathClaim[],
    act: (operations: FileOperations, caller: Caller) => MaybePromise<T>,
  ): MaybePromise<T> {
    const { line, caller } = this.#scope;
    return line.run({ paths }, () => then(this.#operations(), (operations) => act(operations, caller)));
  }
}

/** Goes on at once if there is nothing to wait for. */
function then<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

export function reads(path: NativePath): PathClaim {
  return { path, changes: false, tree: false, above: false };
}

function readsTree(path: NativePath): PathClaim {
  return { path, changes: false, tree: true, above: false };
}

export function changes(path: NativePath): PathClaim {
  return { path, changes: true, tree: true, above: false };
}

/** Makes what is missing above the path as well. */
function makes(path: NativePath): PathClaim {
  return { path, changes: true, tree: true, above: true };
}
