/**
 * The program of a terminal, looked up as the reference does it: beforehand, with every reason in a sentence. A program
 * with another argv[0] takes another way, see `renamed_program.ts`.
 */
import { quoteText } from "../decode_text.ts";
import { ExecError } from "../errors.ts";
import { EINVAL } from "../linux/errno.ts";
import type { LaunchSpec } from "./child.ts";
import { asDirectory, isAbsolute, join, splitSearchPath } from "./path_bytes.ts";
import type { AccessProbe } from "./program.ts";

const encoder = new TextEncoder();
const lossyDecoder = new TextDecoder();

/** What a terminal's program is started with. */
export interface TerminalProgram {
  readonly path: Uint8Array;
  readonly cwd: Uint8Array;
}

/**
 * Finds the program of a terminal.
 *
 * @param home Where it starts if `spec.cwd` is no directory and its environment has no HOME.
 * @throws {ExecError} `spawnFailed` with the reference's sentence.
 */
export function findTerminalProgram(spec: LaunchSpec, home: () => string, probe: AccessProbe): TerminalProgram {
  const files = new Files(probe);
  const { name, cwd, fallsBack } = terminalStart(spec, home, files);
  if (isAbsolute(name)) {
    // With a good cwd nothing is looked at: what exec says is the answer.
    if (fallsBack) checkAbsolute(name, files);
    return { path: name, cwd };
  }
  if (beginsWithDots(name)) return { path: checkRelative(join(cwd, name), files), cwd };
  return { path: search(name, cwd, spec.env.get("PATH"), files), cwd };
}

/** What is wanted, and where it will run: in `spec.cwd`, or at home if that is no directory. */
export function terminalStart(
  spec: LaunchSpec,
  home: () => string,
  files: Files,
): { name: Uint8Array; cwd: Uint8Array; fallsBack: boolean } {
  const program = spec.argv[0] ?? "";
  if (program === "") throw new ExecError("spawnFailed", "missing program for PTY spawn");
  return { name: encoder.encode(program), ...terminalDirectory(spec, home, files) };
}

/** Where a terminal's program runs, and whether that is at home because `spec.cwd` is no directory. */
export function terminalDirectory(
  spec: LaunchSpec,
  home: () => string,
  files: Files,
): { cwd: Uint8Array; fallsBack: boolean } {
  const fallsBack = !files.isDirectory(spec.cwd);
  return { cwd: fallsBack ? encoder.encode(spec.env.get("HOME") ?? home()) : spec.cwd, fallsBack };
}

/** `.` and `..` and what begins with them as a directory is no name to search for. */
export function beginsWithDots(name: Uint8Array): boolean {
  return /^\.\.?(\/|$)/.test(lossyDecoder.decode(name));
}

/** The looks at files. A path with a NUL cannot be asked about. */
export class Files {
  constructor(readonly probe: AccessProbe) {}

  /** 0 or the error number of the look. */
  ask(path: Uint8Array, mode: "exists" | "executable"): number {
    return path.includes(0) ? EINVAL : this.probe(path, mode);
  }

  exists(path: Uint8Array): boolean {
    return this.ask(path, "exists") === 0;
  }

  isExecutable(path: Uint8Array): boolean {
    return this.ask(path, "executable") === 0;
  }

  isDirectory(path: Uint8Array): boolean {
    return path.length > 0 && this.exists(asDirectory(path));
  }
}

function checkAbsolute(path: Uint8Array, files: Files): void {
  if (files.isDirectory(path)) throw unableToSpawn(path, "it is a directory");
  const error = files.ask(path, "executable");
  if (error === 0) return;
  const state = files.exists(path) ? "it is not executable" : "it doesn't exist on the filesystem";
  throw unableToSpawn(path, `${state} (${errorName(error)})`);
}

function checkRelative(path: Uint8Array, files: Files): Uint8Array {
  if (files.isDirectory(path)) throw unableToSpawn(path, "it is a directory");
  if (files.isExecutable(path)) return path;
  throw unableToSpawn(path, files.exists(path) ? "it is not executable" : "it does not exist");
}

function search(name: Uint8Array, cwd: Uint8Array, path: string | undefined, files: Files): Uint8Array {
  if (path === undefined) throw unableToSpawn(name, "\nUnable to resolve the PATH");
  const reasons: string[] = [];
  for (const entry of splitSearchPath(encoder.encode(path))) {
    const candidate = join(join(cwd, entry), name);
    if (files.isDirectory(candidate)) reasons.push(`${display(candidate)} exists but is a directory.`);
    else if (files.isExecutable(candidate)) return candidate;
    else if (files.exists(candidate)) reasons.push(`${display(candidate)} exists but is not executable.`);
  }
  reasons.push(`No viable candidates found in PATH ${quoteText(path)}`);
  throw unableToSpawn(name, `\n${reasons.join("\n")}`);
}

function unableToSpawn(path: Uint8Array, reason: string): ExecError {
  return new ExecError(
    "spawnFailed",
    `Unable to spawn ${display(path)} because${reason.startsWith("\n") ? ":" : " "}${reason}`,
  );
}

/** Error numbers that access(2) has for a path, under the names and texts that the reference prints in this place. */
const ERROR_NAMES: Readonly<Record<number, string>> = {
  2: "ENOENT: No such file or directory",
  5: "EIO: I/O error",
  12: "ENOMEM: Out of memory",
  13: "EACCES: Permission denied",
  20: "ENOTDIR: Not a directory",
  22: "EINVAL: Invalid argument",
  26: "ETXTBSY: Text file busy",
  36: "ENAMETOOLONG: File name too long",
  40: "ELOOP: Too many symbolic links encountered",
};

function errorName(errno: number): string {
  return ERROR_NAMES[errno] ?? "UnknownErrno: Unknown errno";
}

/** Bytes that are not UTF-8 show as U+FFFD. */
function display(path: Uint8Array): string {
  return lossyDecoder.decode(path);
}
