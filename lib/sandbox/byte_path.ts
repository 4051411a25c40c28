/** Paths as strings of bytes, see {@linkcode BytePath}: to and from bytes and text, and what they have to do with each other. */

import type { NativePath } from "../native_path.ts";
import type { BytePath } from "./policy.ts";

/** So many code units at once: as arguments of one call they must not fill the stack. */
const CHUNK = 8192;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Each byte as one code unit; also for names and patterns. */
export function fromBytes(bytes: Uint8Array): BytePath {
  let result = "";
  for (let at = 0; at < bytes.length; at += CHUNK) result += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return result;
}

/** @param path Code units below 256. */
export function toBytes(path: BytePath): NativePath {
  const bytes = new Uint8Array(path.length);
  for (let at = 0; at < path.length; at++) bytes[at] = path.charCodeAt(at);
  return bytes;
}

/** The UTF-8 bytes of a text. */
export function fromText(text: string): BytePath {
  return fromBytes(encoder.encode(text));
}

/** For people to read: what is no UTF-8 shows as U+FFFD. */
export function toText(path: BytePath): string {
  return decoder.decode(toBytes(path));
}

export function join(directory: BytePath, name: string): BytePath {
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}

/** The directory that a path lies in; `/` for itself. */
export function parent(path: BytePath): BytePath {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}

/** Whether a path is the other one or lies below it. */
export function isAtOrBelow(path: BytePath, above: BytePath): boolean {
  return above === "/" || path === above || (path.startsWith(above) && path[above.length] === "/");
}

/**
 * An absolute path as its names say it, before any link is looked at: without `.`, `..` and empty names.
 *
 * @param path Begins with a slash.
 */
export function normalized(path: string): BytePath {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return `/${names.join("/")}`;
}
