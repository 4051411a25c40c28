/**
 * From argv[0], the child's PATH and its working directory to the file to run, or the exact reason why there is none.
 *
 * In the end the reference leaves every program to the C library's `execvp` in the child, on pipes at once. On a
 * terminal it searches beforehand, and has sentences of its own then: see `terminal_program.ts`, and for a program
 * with another argv[0] `renamed_program.ts`.
 */
import { ExecError } from "../errors.ts";
import { EACCES, ENAMETOOLONG, ENOENT, ENOTDIR } from "../linux/errno.ts";
import type { LaunchSpec } from "./child.ts";
import { asDirectory, concat, hasSlash, join, splitSearchPath } from "./path_bytes.ts";

/** How a program is looked up: 0, or the error number that access(2) gives for the path. */
export type AccessProbe = (path: Uint8Array, mode: "exists" | "executable") => number;

/** musl's path for an environment without PATH. */
const DEFAULT_PATH = "/usr/local/bin:/bin:/usr/bin";
/** Longest name of a file, in bytes: NAME_MAX. */
const NAME_MAX_BYTES = 255;
/** Longest directory on PATH that is looked at, in bytes: PATH_MAX without its NUL; longer ones are skipped. */
const PATH_ENTRY_MAX_BYTES = 4095;

const encoder = new TextEncoder();

/**
 * Refuses what cannot be handed to the system at all.
 *
 * @throws {ExecError} `spawnFailed`.
 */
export function checkStrings(spec: LaunchSpec, cwd: Uint8Array): void {
  const strings = spec.arg0 === null ? spec.argv : [...spec.argv, spec.arg0];
  if (strings.some((text) => text.includes("\0")) || cwd.includes(0)) {
    throw new ExecError("spawnFailed", "nul byte found in provided data");
  }
  for (const [name, value] of spec.env) {
    if (name.includes("\0") || value.includes("\0")) {
      throw new ExecError("spawnFailed", "data provided contains a nul byte");
    }
  }
}

/**
 * The name of a program on pipes, for {@linkcode startFile}.
 *
 * @throws {ExecError} `spawnFailed` if there is none.
 */
export function pipeProgram(spec: LaunchSpec): Uint8Array {
  const program = spec.argv[0] ?? "";
  if (program === "") throw new ExecError("spawnFailed", "missing program for pipe spawn");
  return encoder.encode(program);
}

/**
 * Tries what `execvp` would try in the child, in its order, until a candidate starts.
 *
 * @param name Not empty; looked for on PATH if there is no slash in it.
 * @param child Where and with what environment it will run.
 * @param start Starts a file (a relative path is taken from the child's cwd): its process id, or a negated error number.
 * @returns The process id, or the negated error number that execvp would end with.
 */
export function startFile(
  name: Uint8Array,
  child: { readonly cwd: Uint8Array; readonly env: ReadonlyMap<string, string> },
  probe: AccessProbe,
  start: (path: Uint8Array) => number,
): number {
  if (hasSlash(name)) return start(name);
  const badDirectory = probe(join(child.cwd, CURRENT), "exists");
  if (badDirectory !== 0) return -badDirectory;
  if (name.length > NAME_MAX_BYTES) return -ENAMETOOLONG;

  let seen = ENOENT;
  let denied = false;
  for (const entry of splitSearchPath(encoder.encode(child.env.get("PATH") ?? DEFAULT_PATH))) {
    if (entry.length > PATH_ENTRY_MAX_BYTES) continue;
    const candidate = entry.length === 0 ? name : concat(asDirectory(entry), name);
    // Starting costs hundreds of times more than this look, and would say the same of a file that is not there.
    const absent = probe(join(child.cwd, candidate), "exists");
    const result = absent === 0 ? start(candidate) : -absent;
    if (result >= 0) return result;
    if (result === -EACCES) denied = true;
    else if (result !== -ENOENT && result !== -ENOTDIR) return result;
    seen = -result;
  }
  return denied ? -EACCES : -seen;
}

const CURRENT = encoder.encode(".");
