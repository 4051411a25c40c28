import { PathUri } from "../path_uri.ts";
import type { NativePath, WalkOptions } from "./operations.ts";

const ROOT_URI = "file:///";

/**
 * The URI with which those in the answer begin: of a directory that is named in an unusual way the one that was asked
 * for, so that whoever asks finds it again. One slash at its end goes.
 */
export function walkRootUri(path: NativePath, { uri }: WalkOptions): string {
  if (uri === undefined) return PathUri.fromNative(path);
  return uri.endsWith("/") && uri !== ROOT_URI ? uri.slice(0, -1) : uri;
}
