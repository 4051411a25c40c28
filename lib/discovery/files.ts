import { ExecError } from "../errors.ts";
import { PathUri } from "../path_uri.ts";

/** An absolute path: its bytes, which need not be UTF-8, without a NUL. */
type NativePath = Uint8Array<ArrayBuffer>;
type MaybePromise<T> = T | Promise<T>;

export interface WalkOptions {
  readonly maxDepth: number;
  readonly maxDirectories: number;
  readonly maxEntries: number;
  readonly followDirectorySymlinks: boolean;
  readonly pruneHiddenDirectories: boolean;
  /** How the caller names the directory: URIs in the answer begin like it. */
  readonly uri?: string;
}

export interface WalkResult {
  /** Paths are URIs. */
  readonly entries: readonly { readonly path: string; readonly kind: "file" | "directory" }[];
  readonly errors: readonly { readonly path: string; readonly message: string }[];
  readonly truncated: boolean;
}

export interface Metadata {
  readonly isDirectory: boolean;
  readonly isFile: boolean;
  /** Whether the name itself is a symlink; the rest is about what it leads to. */
  readonly isSymlink: boolean;
  /** Bytes. */
  readonly size: number;
}

/** Most files have less. */
const EXPECTED_BYTES = 16_384;

/** For whom files are looked at. */
export interface Caller {
  /** Aborted when nobody wants it any more. */
  readonly signal: AbortSignal;
  /** How long to work without a break now, in milliseconds. */
  budgetMs(): number;
}

/** What is needed of a file system; all of it throws `ExecError`, `notFound` for what is not there. */
export interface ReadingOperations {
  getMetadata(path: NativePath, followSymlinks: boolean, caller: Caller): MaybePromise<Metadata>;
  /** Regular files only. */
  openForReading(
    path: NativePath,
    caller: Caller,
  ): MaybePromise<
    & { read(offset: bigint, length: number, signal: AbortSignal): MaybePromise<Uint8Array<ArrayBuffer>> }
    & Disposable
  >;
  canonicalize(path: NativePath, caller: Caller): MaybePromise<NativePath>;
  walk(path: NativePath, options: WalkOptions, caller: Caller): MaybePromise<WalkResult>;
}

/** Files as one request sees them. Paths are URIs in their normal form. */
export class DiscoveryFiles {
  readonly #operations: ReadingOperations;
  readonly #caller: Caller;
  #began = performance.now();

  constructor(operations: ReadingOperations, caller: Caller) {
    this.#operations = operations;
    this.#caller = caller;
  }

  /**
   * To be called between small steps: lets others have their turn when it is theirs.
   *
   * @throws The reason of the caller's signal, if nobody wants the work any more.
   */
  pause(): Promise<void> | undefined {
    this.#caller.signal.throwIfAborted();
    if (performance.now() - this.#began < this.#caller.budgetMs()) return undefined;
    return this.#giveWay();
  }

  async #giveWay(): Promise<void> {
    await otherBusiness();
    this.#caller.signal.throwIfAborted();
    this.#began = performance.now();
  }

  /**
   * @throws {ExecError} What the system says; `invalidRequest` if this machine has no such path.
   */
  async metadata(uri: string): Promise<Metadata> {
    await this.pause();
    return await this.#operations.getMetadata(native(uri), true, this.#caller);
  }

  /** What is there; undefined for whatever keeps us from seeing it. */
  async metadataIfVisible(uri: string): Promise<Metadata | undefined> {
    try {
      return await this.metadata(uri);
    } catch (error) {
      fileErrorText(error);
      return undefined;
    }
  }

  /**
   * The whole file, or undefined if it has more than `limitBytes`, of which never more than one is read beyond.
   *
   * @param expectedBytes Memory is first taken for so many.
   * @throws {ExecError} What the system says.
   */
  async read(
    uri: string,
    limitBytes: number,
    expectedBytes = EXPECTED_BYTES,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    await this.pause();
    using file = await this.#operations.openForReading(native(uri), this.#caller);
    const { signal } = this.#caller;
    const beginning = await file.read(0n, Math.min(expectedBytes, limitBytes) + 1, signal);
    if (beginning.length > limitBytes) return undefined;
    if (beginning.length <= expectedBytes) return beginning;
    const rest = await file.read(BigInt(beginning.length), limitBytes + 1 - beginning.length, signal);
    const all = new Uint8Array(beginning.length + rest.length);
    all.set(beginning);
    all.set(rest, beginning.length);
    return all.length > limitBytes ? undefined : all;
  }

  /**
   * The same path without symlinks.
   *
   * @throws {ExecError} If it cannot be resolved.
   */
  async canonical(uri: string): Promise<string> {
    await this.pause();
    return PathUri.fromNative(await this.#operations.canonicalize(native(uri), this.#caller));
  }

  /** The same path without symlinks; itself if it cannot be resolved. */
  async canonicalOrSame(uri: string): Promise<string> {
    try {
      return await this.canonical(uri);
    } catch (error) {
      fileErrorText(error);
      return uri;
    }
  }

  /** Whether both paths lead to the same place, which must exist. */
  async isSame(one: string, other: string): Promise<boolean> {
    try {
      return await this.canonical(one) === await this.canonical(other);
    } catch (error) {
      fileErrorText(error);
      return false;
    }
  }

  /**
   * What it finds is named as `uri` is, with names in their normal form behind it.
   *
   * @throws {ExecError} If not even the directory itself can be looked at.
   */
  async walk(uri: string, options: WalkOptions): Promise<WalkResult> {
    await this.pause();
    return await this.#operations.walk(native(uri), { ...options, uri }, this.#caller);
  }
}

/** Resolves when the event loop has looked at everything else; a timer would take twenty times as long. */
function otherBusiness(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

function native(uri: string): NativePath {
  return PathUri.parse(uri).toNative();
}

export function isNotFound(error: unknown): boolean {
  return error instanceof ExecError && error.kind === "notFound";
}

/**
 * The words of a failed file operation.
 *
 * @throws `error` itself, if it is no such failure.
 */
export function fileErrorText(error: unknown): string {
  if (!(error instanceof ExecError)) throw error;
  return error.message;
}
