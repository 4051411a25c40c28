import { ENOENT } from "../../linux/errno.ts";
import type { Log } from "../../log.ts";
import type { NativePath } from "../operations.ts";
import { watchedNames } from "../watched_names.ts";
import { errnoOf } from "./os_failure.ts";
import { childOf, pathText, rootLength, separatorOf } from "./path_text.ts";

/**
 * See {@linkcode FileOperations.watchMissing}. By the events that the runtime passes on from the system for the directories
 * on the way; nobody tells which file systems can be relied on, so changes that another machine makes to a shared one
 * are not seen, and neither are mounts.
 */
export function watchMissing(
  missing: readonly NativePath[],
  present: NativePath | null,
  changed: () => void,
  log: Log,
): Disposable | null {
  if (missing.length === 0) return null;
  try {
    return watch(missing.map(pathText), present === null ? null : pathText(present), changed, log);
  } catch (error) {
    // What cannot be looked at is not waited for; anything else is a limit of the system.
    if (error !== NOTHING_TO_RELY_ON && errnoOf(error) === null) {
      log.warn("cannot watch for missing files", { reason: error instanceof Error ? error.name : "unknown" });
    }
    return null;
  }
}

function watch(missing: readonly string[], present: string | null, changed: () => void, log: Log): Disposable | null {
  const paths = present === null ? missing : [...missing, present];
  const names = watchedNames(paths, separatorOf(), (path) => rootLength(path));
  if (names === null) return null;
  const directories = [...names.keys()];
  const existing = directories.filter(isDirectory);
  using made = new DisposableStack();
  const watcher = made.use(Deno.watchFs(existing, { recursive: false }));
  // Only now is nothing missed any more.
  if (directories.filter(isDirectory).length !== existing.length) return null;
  if (!missing.every(isMissing) || !(present === null || isThere(present))) return null;
  const counting = new Set<string>();
  for (const [directory, inIt] of names) for (const name of inIt) counting.add(folded(childOf(directory, name)));
  made.move();
  return new ActiveWatch(watcher, counting, changed, log);
}

const NOTHING_TO_RELY_ON = new Error("a link or a file on the way");

class ActiveWatch implements Disposable {
  readonly #watcher: Deno.FsWatcher;
  #active = true;

  constructor(watcher: Deno.FsWatcher, counting: ReadonlySet<string>, changed: () => void, log: Log) {
    this.#watcher = watcher;
    this.#listen(counting).then((heard) => {
      if (heard) changed();
    }).catch((error: unknown) => log.error("watching for missing files failed", { reason: String(error) }));
  }

  [Symbol.dispose](): void {
    if (!this.#active) return;
    this.#active = false;
    this.#watcher.close();
  }

  /** Whether something that counts has happened before the watch was ended. */
  async #listen(counting: ReadonlySet<string>): Promise<boolean> {
    using _end = this;
    for await (const { kind, paths, flag } of this.#watcher) {
      if (!this.#active) return false;
      if (flag === "rescan") return true;
      if (kind !== "access" && paths.some((path) => counting.has(folded(path)))) return true;
    }
    return false;
  }
}

/** Where names that differ in case or composition can mean the same file, all of them count. */
function folded(path: string): string {
  return Deno.build.os === "linux" ? path : path.normalize("NFC").toLowerCase();
}

/** @throws If something else than a directory is there. */
function isDirectory(path: string): boolean {
  const info = infoOf(path);
  if (info !== null && !info.isDirectory) throw NOTHING_TO_RELY_ON;
  return info !== null;
}

function isMissing(path: string): boolean {
  return infoOf(path) === null;
}

function isThere(path: string): boolean {
  const info = infoOf(path);
  return info !== null && !info.isSymlink;
}

function infoOf(path: string): Deno.FileInfo | null {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (errnoOf(error) === ENOENT) return null;
    throw error;
  }
}
