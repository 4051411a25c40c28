/** Native paths as the text that the runtime wants, and what their parts are. */

import { ENOENT } from "../../linux/errno.ts";
import type { NativePath } from "../operations.ts";
import { OsError } from "../os_error.ts";

export type PathStyle = "slash" | "backslash";

export const STYLE: PathStyle = Deno.build.os === "windows" ? "backslash" : "slash";

/** A drive or a share of another machine. */
const WINDOWS_ROOT = /^(?:[A-Za-z]:\\?|\\\\[^\\]*\\[^\\]*\\?)/;

/**
 * @throws {OsError} ENOENT if it is no UTF-8: the runtime has no name for it, so for us it is not there.
 */
export function pathText(path: NativePath): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(path);
  } catch (error) {
    if (error instanceof TypeError) throw new OsError(ENOENT);
    throw error;
  }
}

export function pathBytes(path: string): NativePath {
  return new TextEncoder().encode(path);
}

export function separatorOf(style: PathStyle = STYLE): string {
  return style === "slash" ? "/" : "\\";
}

/** How many characters at the beginning of an absolute path are its root, which has no name. */
export function rootLength(path: string, style: PathStyle = STYLE): number {
  return style === "slash" ? 1 : WINDOWS_ROOT.exec(path)?.[0].length ?? 0;
}

export function isRoot(path: string, style: PathStyle = STYLE): boolean {
  return rootLength(path, style) === path.length;
}

/** The directory that a path is in; the root is in itself. */
export function parentOf(path: string, style: PathStyle = STYLE): string {
  return path.slice(0, Math.max(rootLength(path, style), path.lastIndexOf(separatorOf(style))));
}

/** The last name of a path; empty for the root. */
export function nameOf(path: string, style: PathStyle = STYLE): string {
  return path.slice(Math.max(rootLength(path, style), path.lastIndexOf(separatorOf(style)) + 1));
}

export function childOf(directory: string, name: string, style: PathStyle = STYLE): string {
  const separator = separatorOf(style);
  return directory.endsWith(separator) ? directory + name : directory + separator + name;
}

/** All directories above, the root first. */
export function directoriesAbove(path: string, style: PathStyle = STYLE): string[] {
  const above: string[] = [];
  for (let rest = path; !isRoot(rest, style);) {
    rest = parentOf(rest, style);
    above.unshift(rest);
  }
  return above;
}
