import { osErrorText } from "../../linux/errno.ts";
import { PathUri } from "../../path_uri.ts";
import type { NativePath, WalkOptions, WalkResult } from "../operations.ts";
import { OsError } from "../os_error.ts";
import type { Slice } from "../slice.ts";
import { sortedByBytes } from "../sorted_by_bytes.ts";
import { inSlices } from "../steps.ts";
import { checkWalkLimits, WalkBudget } from "../walk_limits.ts";
import { walkChildUri, walkRootUri } from "../walk_uri.ts";
import { orOsError } from "./os_failure.ts";
import { childOf, pathText } from "./path_text.ts";
import { listOf, targetOf } from "./read_directory.ts";

/** See {@linkcode FileOperations.walk}: breadth first, by the bytes of the names within a directory. */
export async function walk(
  path: NativePath,
  options: WalkOptions,
  slice: Slice,
  signal: AbortSignal,
): Promise<WalkResult> {
  checkWalkLimits(options);
  return await new Walk(path, options, slice, signal).walk();
}

/** A directory that is to be read. */
interface Pending {
  readonly path: string;
  readonly depth: number;
}

class Walk {
  readonly #root: string;
  /** The URI of the root as it is, and as the answer shows it. */
  readonly #rootUri: string;
  readonly #shownUri: string;
  readonly #options: WalkOptions;
  readonly #slice: Slice;
  readonly #signal: AbortSignal;
  readonly #entries: { path: string; kind: "file" | "directory" }[] = [];
  readonly #errors: { path: string; message: string }[] = [];
  readonly #budget = new WalkBudget();
  #entriesLeft: number;
  /** At most as many as there are entries. */
  readonly #pending: Pending[] = [];
  /** Real paths of all directories in it and before, if links are followed. */
  readonly #entered = new Set<string>();

  constructor(root: NativePath, options: WalkOptions, slice: Slice, signal: AbortSignal) {
    this.#root = pathText(root);
    this.#rootUri = PathUri.fromNative(this.#root);
    this.#shownUri = walkRootUri(root, options);
    this.#options = options;
    this.#slice = slice;
    this.#signal = signal;
    this.#entriesLeft = options.maxEntries;
  }

  async walk(): Promise<WalkResult> {
    const path = this.#root;
    const { isSymlink } = await orOsError(Deno.lstat(path));
    const { isDirectory } = await orOsError(Deno.stat(path));
    if (isDirectory && (!isSymlink || this.#options.followDirectorySymlinks)) await this.#enter({ path, depth: 0 });
    const complete = await this.#readAll();
    return { entries: this.#entries, errors: this.#errors, truncated: !complete };
  }

  async #readAll(): Promise<boolean> {
    for (let read = 0; read < this.#pending.length; read++) {
      if (read === this.#options.maxDirectories) return false;
      const directory = this.#pending[read]!;
      const complete = await this.#orReport(directory.path, async () => await this.#readOne(directory));
      if (!complete) return false;
    }
    return true;
  }

  /** Whether the answer had room for what there was to say. */
  async #readOne(directory: Pending): Promise<boolean> {
    const children = await listOf(directory.path, this.#slice, this.#signal);
    // What may be listed, but not searched, has entries that nobody may look at.
    const unsearchable = await errorOf(Deno.lstat(childOf(directory.path, ".")));
    const byName = new Map(children.map((child) => [child.name, child]));
    for (const name of await inSlices(sortedByBytes([...byName.keys()], false), this.#slice, this.#signal)) {
      const child = byName.get(name)!;
      await this.#slice.pause(this.#signal);
      const path = childOf(directory.path, child.name);
      if (child.isSymlink && await targetOf(path) === null) continue; // not even counted
      if (this.#entriesLeft-- === 0) return false;
      const look = async () => {
        if (unsearchable !== null) throw unsearchable;
        return await this.#look(directory, path, child);
      };
      if (!await this.#orReport(path, look)) return false;
    }
    return true;
  }

  async #look(
    { depth }: Pending,
    path: string,
    { name, isFile, isDirectory, isSymlink }: Deno.DirEntry,
  ): Promise<boolean> {
    if (name.includes("\ufffd")) await orOsError(Deno.lstat(path)); // unless it really has that name it is not there
    if (isFile) return this.#list(path, "file");
    if (isSymlink && !(this.#options.followDirectorySymlinks && (await targetOf(path))?.isDirectory)) return true;
    if (!isSymlink && !isDirectory) return true;
    if (!this.#list(path, "directory")) return false;
    if (depth < this.#options.maxDepth && !(this.#options.pruneHiddenDirectories && name.startsWith("."))) {
      await this.#enter({ path, depth: depth + 1 });
    }
    return true;
  }

  async #enter(directory: Pending): Promise<void> {
    if (this.#options.followDirectorySymlinks) {
      const real = await orOsError(Deno.realPath(directory.path));
      if (this.#entered.has(real)) return;
      this.#entered.add(real);
    }
    this.#pending.push(directory);
  }

  #list(path: string, kind: "file" | "directory"): boolean {
    const uri = this.#uriOf(path);
    if (!this.#budget.take(uri)) return false;
    this.#entries.push({ path: uri, kind });
    return true;
  }

  /** Of the root or something below it. */
  #uriOf(path: string): string {
    if (path === this.#root) return this.#shownUri;
    return walkChildUri(this.#shownUri, PathUri.fromNative(path).slice(walkChildUri(this.#rootUri, "").length));
  }

  /** Does the work; what the system says against it becomes part of the answer. */
  async #orReport(path: string, work: () => Promise<boolean>): Promise<boolean> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof OsError)) throw error;
      const uri = this.#uriOf(path);
      const message = osErrorText(error.errno);
      if (!this.#budget.take(uri, message)) return false;
      this.#errors.push({ path: uri, message });
      return true;
    }
  }
}

async function errorOf(promise: Promise<unknown>): Promise<OsError | null> {
  try {
    await orOsError(promise);
    return null;
  } catch (error) {
    if (error instanceof OsError) return error;
    throw error;
  }
}
