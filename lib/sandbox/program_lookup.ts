/**
 * Whether a program can be run in a view, asked before it is started: bubblewrap ends with its own words and exit code
 * where it cannot be, which nobody could tell from those of a program.
 */

import { cString } from "../linux/cstring.ts";
import { EACCES, ELOOP, ENOENT, ENOEXEC, ENOTDIR } from "../linux/errno.ts";
import { AT_FDCWD, AT_SYMLINK_NOFOLLOW, FileStatus, S_IFREG, statusAt } from "../linux/file_calls.ts";
import { access, X_OK } from "../linux/libc.ts";
import { parent, toBytes } from "./byte_path.ts";
import { resolve } from "./canonical_path.ts";
import { executable, HEADER_BYTES } from "./executable.ts";
import { type FileTree, type PathTree, TreeError } from "./file_tree.ts";
import type { Mount } from "./mount_plan.ts";
import type { BytePath } from "./policy.ts";
import type { ConfinedProgram } from "./sandbox.ts";
import { viewContains } from "./view_contains.ts";
import { isClosed, topMount, viewTree } from "./view_tree.ts";

/** Of the C library that bubblewrap is linked with, for an environment without PATH. */
const DEFAULT_PATH = "/bin:/usr/bin";
/** Scripts that are run by scripts; the kernel gives up after the fifth. */
const MAX_INTERPRETERS = 5;

/** @returns The error number that running it would end with; 0: none that can be told beforehand. */
export function lookUpProgram(
  { file, env, cwd }: ConfinedProgram,
  mounts: readonly Mount[],
  machine: FileTree,
): number {
  if (file === "") return ENOENT;
  const directory = viewContains(mounts, cwd) ? cwd : "/";
  const view = new ProgramView(mounts, machine, directory);
  if (file.includes("/")) return view.failure(inDirectory(directory, file));
  const path = env.findLast((variable) => variable.startsWith("PATH="))?.slice("PATH=".length) ?? DEFAULT_PATH;
  let isDenied = false;
  for (const entry of path.split(":")) {
    const failure = view.failure(inDirectory(directory, entry === "" ? file : `${entry}/${file}`));
    if (failure === EACCES) isDenied = true;
    else if (failure !== ENOENT && failure !== ENOTDIR) return failure;
  }
  return isDenied ? EACCES : ENOENT;
}

/** Not normalized: a link may be followed by `..`. */
function inDirectory(directory: BytePath, path: string): string {
  return path.startsWith("/") ? path : `${directory}/${path}`;
}

class ProgramView {
  readonly #mounts: readonly Mount[];
  readonly #machine: FileTree;
  readonly #tree: PathTree;
  readonly #directory: BytePath;

  /** @param directory Where the program begins. */
  constructor(mounts: readonly Mount[], machine: FileTree, directory: BytePath) {
    this.#mounts = mounts;
    this.#machine = machine;
    this.#tree = viewTree(mounts, machine);
    this.#directory = directory;
  }

  /** Of a file's path, as {@linkcode lookUpProgram}. */
  failure(path: string, interpreters = 0): number {
    if (interpreters > MAX_INTERPRETERS) return ELOOP;
    const { path: real, found, reached } = resolve(this.#tree, path);
    if (found === "missing") return this.#tree.kindOf(parent(reached)) === "file" ? ENOTDIR : ENOENT;
    if (found === "directory") return EACCES;
    const top = topMount(this.#mounts, found === "unknown" ? reached : real);
    // What covers others is never to be run, and nobody gets into a closed directory.
    if (top?.kind === "emptyFile" || (top !== undefined && isClosed(top))) return EACCES;
    if (found === "unknown") return 0;
    if (!isRegularFile(real) || access(cString(toBytes(real)), X_OK) < 0) return EACCES;
    return this.#contentsFailure(real, interpreters);
  }

  #contentsFailure(real: BytePath, interpreters: number): number {
    const contents = executable(this.#startOf(real) ?? "\x7fELF");
    switch (contents.kind) {
      case "needs":
        return this.failure(inDirectory(this.#directory, contents.interpreter), interpreters + 1);
      case "complete":
        return 0;
      case "unknown":
        return hasOtherFormats() ? 0 : ENOEXEC;
    }
  }

  /** Undefined: it may be run but not be read. */
  #startOf(path: BytePath): string | undefined {
    try {
      return this.#machine.readStart(path, HEADER_BYTES);
    } catch (error) {
      if (error instanceof TreeError) return undefined;
      throw error;
    }
  }
}

/** Only such are run; and to open a device may do something already. */
function isRegularFile(path: BytePath): boolean {
  const status = new FileStatus();
  const result = statusAt(AT_FDCWD, cString(toBytes(path)), AT_SYMLINK_NOFOLLOW, status);
  return result === 0 && status.kind === S_IFREG;
}

/** Whether the administrator has told the kernel of other kinds of programs. */
function hasOtherFormats(): boolean {
  try {
    return Deno.readDirSync("/proc/sys/fs/binfmt_misc").some(({ name }) => name !== "register" && name !== "status");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied) return false;
    throw error;
  }
}
