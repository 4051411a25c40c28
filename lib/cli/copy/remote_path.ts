/**
 * Paths of the environment's machine as `file:` URIs without a slash at the end: names in them are bytes and need not be
 * UTF-8, and no system's rules are needed to take them apart.
 */
import { PathUri } from "../../path_uri.ts";

const ROOT = "file:///";

/** `file:///a/b/` and `file:///a/b` are the same place. */
export function withoutSlash(uri: string): string {
  let end = uri.length;
  while (end > ROOT.length && uri[end - 1] === "/") end--;
  return uri.slice(0, end);
}

/** The entry `name` of a directory. */
export function childUri(directory: string, name: string): string {
  return `${withoutSlash(directory).replace(/\/$/, "")}/${encodeName(name)}`;
}

/** The directory that an entry is in; the root is in itself. */
export function parentUri(uri: string): string {
  const path = withoutSlash(uri);
  const slash = path.lastIndexOf("/");
  return slash < ROOT.length ? ROOT : path.slice(0, slash);
}

/** An entry's name; undefined: it is a root, or its name is not UTF-8. */
export function nameOf(uri: string): string | undefined {
  const path = withoutSlash(uri);
  const encoded = path.slice(path.lastIndexOf("/") + 1);
  if (encoded === "") return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

/**
 * The path as a program of that machine is to be given it.
 *
 * @returns Undefined if it cannot be said in text, or the machine's paths are not Unix's.
 */
export function programPath(uri: string, platformOs: string | undefined): string | undefined {
  if (platformOs !== undefined && platformOs !== "linux" && platformOs !== "macos") return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(PathUri.parse(uri).toNative("linux"));
  } catch {
    return undefined;
  }
}

/** A path as people know it: as {@linkcode programPath}, with what is not UTF-8 left encoded. */
export function shownPath(uri: string): string {
  return programPath(uri, undefined) ?? uri;
}

function encodeName(name: string): string {
  return PathUri.fromNative(`/${name}`, "linux").slice(ROOT.length);
}
