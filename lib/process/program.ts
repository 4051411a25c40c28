/**
 * From argv[0], the child's PATH and its working directory to the file to run, or the exact reason why there is none.
 *
 * The reference looks programs up in two ways. On pipes it is the C library's `execvp` in the child; on a terminal it
 * is a search of its own beforehand, with sentences of its own. Paths are bytes, since they need not be UTF-8.
 */
import { ExecError } from "../errors.ts";
import { EACCES, EINVAL, ENAMETOOLONG, ENOENT, ENOTDIR } from "../linux/errno.ts";
import type { LaunchSpec } from "./child.ts";

/** How a program is looked up: 0, or the error number that access(2) gives for the path. */
export type AccessProbe = (path: Uint8Array, mode: "exists" | "executable") => number;

/** musl's path for an environment without PATH. */
const DEFAULT_PATH = "/usr/local/bin:/bin:/usr/bin";
/** Longest name of a file, in bytes: NAME_MAX. */
const NAME_MAX_BYTES = 255;
/** Longest directory on PATH that is looked at, in bytes: PATH_MAX without its NUL; longer ones are skipped. */
const PATH_ENTRY_MAX_BYTES = 4095;

const encoder = new TextEncoder();
const lossyDecoder = new TextDecoder();
const SLASH = 0x2f;

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
 * Tries what `execvp` would try, in its order, until a candidate starts.
 *
 * @param start Starts a file (a relative path is taken from the child's cwd): its process id, or a negated error number.
 * @returns The process id, or the negated error number that execvp would end with.
 * @throws {ExecError} `spawnFailed` if there is no program name.
 */
export function startOnPipes(spec: LaunchSpec, probe: AccessProbe, start: (path: Uint8Array) => number): number {
  const program = spec.argv[0] ?? "";
  if (program === "") throw new ExecError("spawnFailed", "missing program for pipe spawn");
  const name = encoder.encode(program);
  if (name.includes(SLASH)) return start(name);
  const badDirectory = probe(join(spec.cwd, CURRENT), "exists");
  if (badDirectory !== 0) return -badDirectory;
  if (name.length > NAME_MAX_BYTES) return -ENAMETOOLONG;

  let seen = ENOENT;
  let denied = false;
  for (const entry of splitPath(encoder.encode(spec.env.get("PATH") ?? DEFAULT_PATH))) {
    if (entry.length > PATH_ENTRY_MAX_BYTES) continue;
    const candidate = entry.length === 0 ? name : concat(entry, SEPARATOR, name);
    // Starting costs hundreds of times more than this look, and would say the same of a file that is not there.
    const absent = probe(join(spec.cwd, candidate), "exists");
    const result = absent === 0 ? start(candidate) : -absent;
    if (result >= 0) return result;
    if (result === -EACCES) denied = true;
    else if (result !== -ENOENT && result !== -ENOTDIR) return result;
    seen = -result;
  }
  return denied ? -EACCES : -seen;
}

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
  const program = spec.argv[0] ?? "";
  if (program === "") throw new ExecError("spawnFailed", "missing program for PTY spawn");
  const name = encoder.encode(program);
  const files = new Files(probe);
  const fallsBack = !files.isDirectory(spec.cwd);
  const cwd = fallsBack ? encoder.encode(spec.env.get("HOME") ?? home()) : spec.cwd;
  if (name[0] === SLASH) {
    // With a good cwd nothing is looked at: what exec says is the answer.
    if (fallsBack) files.checkAbsolute(name);
    return { path: name, cwd };
  }
  if (/^\.\.?(\/|$)/.test(program)) return { path: files.checkRelative(join(cwd, name)), cwd };
  return { path: files.search(name, cwd, spec.env.get("PATH")), cwd };
}

/** The looks at files and the sentences about them. */
class Files {
  constructor(readonly probe: AccessProbe) {}

  /** A path with a NUL cannot be asked about. */
  #ask(path: Uint8Array, mode: "exists" | "executable"): number {
    return path.includes(0) ? EINVAL : this.probe(path, mode);
  }

  isDirectory(path: Uint8Array): boolean {
    return path.length > 0 && this.#ask(concat(path, SEPARATOR), "exists") === 0;
  }

  checkAbsolute(path: Uint8Array): void {
    if (this.isDirectory(path)) throw unableToSpawn(path, "it is a directory");
    const error = this.#ask(path, "executable");
    if (error === 0) return;
    const found = this.#ask(path, "exists") === 0;
    throw unableToSpawn(
      path,
      `${found ? "it is not executable" : "it doesn't exist on the filesystem"} (${errorName(error)})`,
    );
  }

  checkRelative(path: Uint8Array): Uint8Array {
    if (this.isDirectory(path)) throw unableToSpawn(path, "it is a directory");
    if (this.#ask(path, "executable") === 0) return path;
    throw unableToSpawn(path, this.#ask(path, "exists") === 0 ? "it is not executable" : "it does not exist");
  }

  search(name: Uint8Array, cwd: Uint8Array, path: string | undefined): Uint8Array {
    if (path === undefined) throw unableToSpawn(name, "\nUnable to resolve the PATH");
    const reasons: string[] = [];
    for (const entry of splitPath(encoder.encode(path))) {
      const candidate = join(join(cwd, entry), name);
      if (this.isDirectory(candidate)) reasons.push(`${display(candidate)} exists but is a directory.`);
      else if (this.#ask(candidate, "executable") === 0) return candidate;
      else if (this.#ask(candidate, "exists") === 0) {
        reasons.push(`${display(candidate)} exists but is not executable.`);
      }
    }
    reasons.push(`No viable candidates found in PATH ${quote(path)}`);
    throw unableToSpawn(name, `\n${reasons.join("\n")}`);
  }
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

/** Text as Rust shows a string in quotes: what is invisible or combines with its neighbour is escaped. */
function quote(text: string): string {
  const escaped = text.replace(/["\\]|(?! )[\p{C}\p{Z}\p{Grapheme_Extend}]/gu, (character) => {
    const known = ESCAPES[character];
    return known ?? `\\u{${character.codePointAt(0)!.toString(16)}}`;
  });
  return `"${escaped}"`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\0": "\\0",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
};

const SEPARATOR = new Uint8Array([SLASH]);
const CURRENT = encoder.encode(".");
const COLON = 0x3a;

/** An empty entry, also the only one of an empty PATH, means the working directory. */
function* splitPath(path: Uint8Array): Generator<Uint8Array> {
  let start = 0;
  for (let end = path.indexOf(COLON); end !== -1; end = path.indexOf(COLON, start)) {
    yield path.subarray(start, end);
    start = end + 1;
  }
  yield path.subarray(start);
}

/** An absolute path stays itself; an empty one leaves the base with a slash at its end. */
function join(base: Uint8Array, path: Uint8Array): Uint8Array {
  if (path[0] === SLASH) return path;
  return base.length === 0 || base.at(-1) === SLASH ? concat(base, path) : concat(base, SEPARATOR, path);
}

function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const result = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    result.set(part, offset);
    offset += part.length;
  }
  return result;
}
