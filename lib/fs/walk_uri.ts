import { PathUri } from "../path_uri.ts";
import type { NativePath, WalkOptions } from "./operations.ts";

/** The URI that stands for the root in the answer: of a directory that is named in an unusual way the one asked for. */
export function walkRootUri(path: NativePath, { uri }: WalkOptions): string {
  return uri ?? PathUri.fromNative(path);
}

/** The URI of a child. One slash at the end of its directory's serves as separator. */
export function walkChildUri(uri: string, encodedName: string): string {
  return uri.endsWith("/") ? uri + encodedName : `${uri}/${encodedName}`;
}
