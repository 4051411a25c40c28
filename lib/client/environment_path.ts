import { ExecError } from "../errors.ts";
import { normalized } from "../native_path.ts";
import { PathUri } from "../path_uri.ts";
import type { EnvironmentInfo } from "../protocol/environment.ts";
import type { EnvironmentPath } from "./process.ts";

/** What of an environment's description says how its paths are written. */
export type PathContext = Pick<EnvironmentInfo, "cwd" | "platformOs">;

/** Whether a path says all by itself; for others {@linkcode toPathUri} looks at the environment. */
export function isUri(path: EnvironmentPath): boolean {
  return typeof path !== "string" || FILE_URI.test(path);
}

const FILE_URI = /^file:\/\//i;

/**
 * A path of the environment's machine as it travels. `.`, `..` and repeated separators are resolved before any link is
 * looked at, which is what every server does with a URI.
 *
 * @param path Text that begins with `file://` is a URI; other text is a path of that machine's system, with `\` and drives
 * if it is Windows, relative to the environment's own directory unless it is absolute.
 * @throws {TypeError} It is empty, holds a NUL or a lone surrogate, is no path of such a machine, or is relative where the
 * environment has no directory of its own.
 */
export function toPathUri(path: EnvironmentPath, environment: PathContext): PathUri {
  if (path instanceof PathUri) return path;
  const isWindows = isWindowsMachine(environment);
  if (path instanceof URL) return parsed(path.href, path.href, isWindows);
  if (path === "") throw new TypeError("a path must not be empty");
  if (path.includes("\0")) throw refused(path, "holds a NUL");
  if (!isWellFormed(path)) throw refused(path, "is not well-formed text");
  if (FILE_URI.test(path)) return parsed(path, path, isWindows);
  return isWindows ? fromWindows(path, environment.cwd) : fromPosix(path, environment.cwd);
}

/** Servers that do not tell their system are as old as their directory is telling. */
function isWindowsMachine({ platformOs, cwd }: PathContext): boolean {
  return platformOs === null ? cwd !== null && /^file:\/\/(\/[a-z]:|[^/])/i.test(cwd) : platformOs === "windows";
}

function fromPosix(path: string, cwd: string | null): PathUri {
  const bytes = new TextEncoder().encode(path);
  if (path.startsWith("/")) return PathUri.parse(PathUri.fromNative(normalized(bytes), "linux"), "linux");
  const base = directory(path, cwd, false).toNative("linux");
  const whole = new Uint8Array(base.length + 1 + bytes.length);
  whole.set(base);
  whole[base.length] = SLASH;
  whole.set(bytes, base.length + 1);
  return PathUri.parse(PathUri.fromNative(normalized(whole), "linux"), "linux");
}

const SLASH = 0x2f;

function fromWindows(path: string, cwd: string | null): PathUri {
  const plain = withoutVerbatimPrefix(path.replaceAll("/", "\\"));
  if (/^\\\\[?.]\\/.test(plain)) throw refused(path, "names a device");
  const own = () => new TextDecoder().decode(directory(path, cwd, true).toNative("windows")).replace(/\\$/, "");
  let whole = plain;
  if (/^[a-z]:(?!\\)/i.test(plain)) {
    // Windows keeps a directory for each drive; only that of the drive that it is on is known.
    if (plain.slice(0, 2).toUpperCase() !== own().slice(0, 2).toUpperCase()) {
      throw refused(path, "is relative to a directory that is not known");
    }
    whole = `${own()}\\${plain.slice(2)}`;
  } else if (!/^(?:[a-z]:|\\)\\/i.test(plain)) {
    const root = () => /^(?:[a-z]:|\\\\[^\\]+\\[^\\]+)/i.exec(own())?.[0] ?? "";
    whole = plain.startsWith("\\") ? root() + plain : `${own()}\\${plain}`;
  }
  const share = /^\\\\[^\\]/.test(whole) ? "\\\\" : "";
  const tidy = share + whole.slice(share.length).replaceAll(/\\+/g, "\\");
  const drive = /^[a-z]:\\/i.exec(tidy)?.[0] ?? "";
  return parsed(PathUri.fromNative(drive + tidy.slice(drive.length).replace(/\\$/, ""), "windows"), path, true);
}

/** `\\?\C:\x` and `\\?\UNC\server\share` mean the same as without it, but for names that URIs cannot say anyway. */
function withoutVerbatimPrefix(path: string): string {
  return path.replace(/^\\\\\?\\UNC\\/i, "\\\\").replace(/^\\\\\?\\(?=[a-z]:\\)/i, "");
}

/** What relative paths are relative to. */
function directory(path: string, cwd: string | null, isWindows: boolean): PathUri {
  if (cwd === null) throw refused(path, "is relative, and the environment has no directory of its own");
  return parsed(cwd, cwd, isWindows);
}

function parsed(text: string, path: string, isWindows: boolean): PathUri {
  const os = isWindows ? "windows" : "linux";
  try {
    const uri = PathUri.parse(text, os);
    if (isWindows) uri.toNative(os);
    return uri;
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    throw refused(path, `is no path of the environment: ${error.message}`, error);
  }
}

function refused(path: string, why: string, cause?: unknown): TypeError {
  return new TypeError(`path ${JSON.stringify(path)} ${why}`, { cause });
}

/** Without the engine's `isWellFormed`, which the type library does not know yet. */
function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
