/** Walking about in `file:` URIs in their normal form. */

import { PathUri } from "../path_uri.ts";

/** The directory that holds it; undefined for the root. */
export function parentUri(uri: string): string | undefined {
  const path = pathOf(uri);
  if (path === "/") return undefined;
  return `file://${path.slice(0, path.lastIndexOf("/")) || "/"}`;
}

/** It and all directories above it, the nearest first. */
export function* selfAndAncestors(uri: string): Generator<string> {
  for (let at: string | undefined = uri; at !== undefined; at = parentUri(at)) yield at;
}

/** The last name, decoded; what is no UTF-8 shows as U+FFFD. Undefined for the root. */
export function baseName(uri: string): string | undefined {
  const name = pathOf(uri).slice(pathOf(uri).lastIndexOf("/") + 1);
  return name === "" ? undefined : displayPath(`file:///${name}`).slice(1);
}

/** @param relative Names with slashes between them, none of which a URI would have to encode. */
export function childUri(uri: string, relative: string): string {
  return uri.endsWith("/") ? `${uri}${relative}` : `${uri}/${relative}`;
}

/** Whether it is that directory or something below it. */
export function isWithin(uri: string, directory: string): boolean {
  return uri === directory || uri.startsWith(childUri(directory, ""));
}

/** The path for people; what is no UTF-8 shows as U+FFFD. */
export function displayPath(uri: string): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(PathUri.parse(uri).toNative());
}

/**
 * The URI of a path in its normal form: without `.`, `..`, needless slashes.
 *
 * @param path Absolute, or taken from `base`. Bytes need not be UTF-8.
 */
export function uriOfPath(path: string | Uint8Array<ArrayBuffer>, base = "file:///"): string {
  const bytes = typeof path === "string" ? new TextEncoder().encode(path) : path;
  const encoded = PathUri.fromNative(bytes).slice("file://".length);
  const absolute = encoded.startsWith("/") ? encoded : `${pathOf(base)}/${encoded}`;
  const { pathname } = new URL(`file://${absolute.replace(/\/{2,}/g, "/")}`);
  return `file://${pathname.length > 1 && pathname.endsWith("/") ? pathname.slice(0, -1) : pathname}`;
}

function pathOf(uri: string): string {
  return uri.slice("file://".length);
}
