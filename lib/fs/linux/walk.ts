import { cString } from "../../linux/cstring.ts";
import { osErrorText } from "../../linux/errno.ts";
import { AT_FDCWD, AT_SYMLINK_NOFOLLOW, PATH_MAX } from "../../linux/file_calls.ts";
import { PathUri } from "../../path_uri.ts";
import type { MaybePromise, NativePath, WalkOptions, WalkResult } from "../operations.ts";
import { checked, OsError } from "../os_error.ts";
import type { Slice } from "../slice.ts";
import { checkWalkLimits, WalkBudget } from "../walk_limits.ts";
import { walkChildUri, walkRootUri } from "../walk_uri.ts";
import { canonicalize } from "./canonicalize.ts";
import { LISTING, OpenDirectory } from "./open_directory.ts";
import { DirectoryReader, DT_DIR, DT_LNK, DT_REG, DT_UNKNOWN } from "./directory_reader.ts";
import { ENTRIES_PER_STEP, targetType } from "./read_directory.ts";
import { sortedByBytes } from "../sorted_by_bytes.ts";
import { inSlices, type Steps } from "../steps.ts";
import { typeAt } from "./type_at.ts";

/**
 * See {@linkcode FileOperations.walk}: breadth first, by the bytes of the names within a directory.
 *
 * The reference walks with the answers of its other methods: names as text, which need not lead back to the file, and
 * whole paths, which can be too long. So does this where it makes a difference.
 */
export function walk(
  path: NativePath,
  options: WalkOptions,
  slice: Slice,
  signal: AbortSignal,
): MaybePromise<WalkResult> {
  checkWalkLimits(options);
  return inSlices(new Walk(options).from(path), slice, signal);
}

/** A directory that is to be read. */
interface Pending {
  readonly path: NativePath;
  readonly uri: string;
  /** The URI of its path without links; empty if links are not followed. */
  readonly realUri: string;
  readonly depth: number;
}

interface Children {
  /** As text, in the order of their bytes; what is no UTF-8 in them shows as U+FFFD. */
  readonly names: readonly string[];
  /** `DT_…`, or the negated error number that a look gives, of those that are no regular files. */
  readonly types: ReadonlyMap<string, number>;
}

/** Most bytes that a character (a half of one beyond U+FFFF) of a name takes. */
const MOST_BYTES = 3;
const REPLACEMENT = "\ufffd";
const CURRENT = cString(".");

const encoder = new TextEncoder();

class Walk {
  readonly #options: WalkOptions;
  readonly #entries: { path: string; kind: "file" | "directory" }[] = [];
  readonly #errors: { path: string; message: string }[] = [];
  readonly #budget = new WalkBudget();
  #entriesLeft: number;
  /** Read from the front by index: at most as many as there are entries. */
  readonly #pending: Pending[] = [];
  /** Real URIs of all directories that were entered or are going to be, if links are followed. */
  readonly #entered = new Set<string>();

  constructor(options: WalkOptions) {
    this.#options = options;
    this.#entriesLeft = options.maxEntries;
  }

  *from(path: NativePath): Steps<WalkResult> {
    const complete = this.#begin(path) ? yield* this.#readAll() : true;
    return { entries: this.#entries, errors: this.#errors, truncated: !complete };
  }

  /** Whether there is a directory to begin with. */
  #begin(path: NativePath): boolean {
    let type = checked(ownTypeOf(path));
    if (type === DT_LNK) {
      type = checked(targetTypeOf(path));
      if (!this.#options.followDirectorySymlinks) return false;
    }
    if (type !== DT_DIR) return false;
    const uri = walkRootUri(path, this.#options);
    this.#enter({ path, uri, realUri: this.#realUri(path), depth: 0 });
    return true;
  }

  *#readAll(): Steps<boolean> {
    for (let read = 0; read < this.#pending.length; read++) {
      if (read === this.#options.maxDirectories) return false;
      const directory = this.#pending[read]!;
      let children: Children;
      try {
        children = yield* childrenOf(directory.path);
      } catch (error) {
        if (!(error instanceof OsError)) throw error;
        if (!this.#report(directory.uri, error.message)) return false;
        continue;
      }
      let looked = 0;
      for (const name of children.names) {
        const type = children.types.get(name) ?? DT_REG;
        if (this.#entriesLeft-- === 0 || !this.#look(directory, name, type)) return false;
        if (++looked % ENTRIES_PER_STEP === 0) yield;
      }
      yield;
    }
    return true;
  }

  /** Whether the answer had room for what there was to say. */
  #look(directory: Pending, name: string, type: number): boolean {
    const uri = walkChildUri(directory.uri, encoded(name));
    let kind = type;
    if (name.includes(REPLACEMENT) || directory.path.length + MOST_BYTES * name.length + 2 > PATH_MAX) {
      kind = ownTypeOf(childPath(directory.path, name));
    }
    if (kind < 0) return this.#report(uri, osErrorText(-kind));
    if (kind === DT_LNK) {
      if (!this.#options.followDirectorySymlinks || targetTypeOf(childPath(directory.path, name)) !== DT_DIR) {
        return true;
      }
    } else if (kind === DT_REG) return this.#list(uri, "file");
    else if (kind !== DT_DIR) return true;
    if (!this.#list(uri, "directory")) return false;
    if (directory.depth === this.#options.maxDepth) return true;
    if (this.#options.pruneHiddenDirectories && name.startsWith(".")) return true;
    return this.#consider(directory, name, uri, kind === DT_LNK);
  }

  /** Puts a directory on the list of those to be read, unless it is there already. */
  #consider(parent: Pending, name: string, uri: string, isLink: boolean): boolean {
    const path = childPath(parent.path, name);
    let realUri = "";
    try {
      if (isLink) realUri = this.#realUri(path);
      else if (parent.realUri !== "") realUri = walkChildUri(parent.realUri, encoded(name));
    } catch (error) {
      if (!(error instanceof OsError)) throw error;
      return this.#report(uri, error.message);
    }
    this.#enter({ path, uri, realUri, depth: parent.depth + 1 });
    return true;
  }

  #enter(directory: Pending): void {
    if (this.#options.followDirectorySymlinks) {
      if (this.#entered.has(directory.realUri)) return;
      this.#entered.add(directory.realUri);
    }
    this.#pending.push(directory);
  }

  #realUri(path: NativePath): string {
    return this.#options.followDirectorySymlinks ? PathUri.fromNative(canonicalize(path)) : "";
  }

  #list(path: string, kind: "file" | "directory"): boolean {
    if (!this.#budget.take(path)) return false;
    this.#entries.push({ path, kind });
    return true;
  }

  #report(path: string, message: string): boolean {
    if (!this.#budget.take(path, message)) return false;
    this.#errors.push({ path, message });
    return true;
  }
}

/**
 * Links that lead nowhere are left out.
 *
 * @throws {OsError}
 */
function* childrenOf(path: NativePath): Steps<Children> {
  using directory = OpenDirectory.at(AT_FDCWD, cString(path), LISTING);
  using reader = new DirectoryReader(directory.fd);
  const unsearchable = typeAt(directory.fd, CURRENT, 0);
  const names: string[] = [];
  const types = new Map<string, number>();
  let plain = true;
  while (reader.advance()) {
    if (targetType(directory.fd, reader) !== null) {
      const name = reader.text;
      plain &&= name.length === reader.nameLength;
      names.push(name);
      const type = unsearchable < 0 ? unsearchable : ownType(directory, reader);
      if (type !== DT_REG) types.set(name, type);
    }
    if (names.length % ENTRIES_PER_STEP === 0) yield;
  }
  return { names: yield* sortedByBytes(names, plain), types };
}

function ownType(directory: OpenDirectory, reader: DirectoryReader): number {
  return reader.type === DT_UNKNOWN ? typeAt(directory.fd, reader.name, AT_SYMLINK_NOFOLLOW) : reader.type;
}

/** By the path, which the system finds too long if it is. */
function ownTypeOf(path: NativePath): number {
  return typeAt(AT_FDCWD, cString(path), AT_SYMLINK_NOFOLLOW);
}

function targetTypeOf(path: NativePath): number {
  return typeAt(AT_FDCWD, cString(path), 0);
}

const ROOT_URI = "file:///";

/** Names that stand for themselves in a URI; most do. */
const PLAIN = /^[\w.~-]+$/;

function encoded(name: string): string {
  return PLAIN.test(name) ? name : PathUri.fromNative(`/${name}`).slice(ROOT_URI.length);
}

function childPath(directory: NativePath, name: string): NativePath {
  const encodedName = encoder.encode(name);
  const separator = directory.length === 1 ? 0 : 1;
  const path = new Uint8Array(directory.length + separator + encodedName.length);
  path.set(directory);
  if (separator === 1) path[directory.length] = 0x2f;
  path.set(encodedName, directory.length + separator);
  return path;
}
