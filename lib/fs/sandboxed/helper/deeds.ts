/** Does what a helper is asked for, with the very functions that the server uses outside of sandboxes. */

import { NEW_FILE_MODE, WRITING } from "../../linux/write_file.ts";
import { canonicalize } from "../../linux/canonicalize.ts";
import { copy } from "../../linux/copy.ts";
import { createDirectory } from "../../linux/create_directory.ts";
import { getMetadata } from "../../linux/metadata.ts";
import { openPath } from "../../linux/open_at.ts";
import { readDirectory } from "../../linux/read_directory.ts";
import { READING } from "../../linux/read_file.ts";
import { remove } from "../../linux/remove.ts";
import { walk } from "../../linux/walk.ts";
import { fromBytes, toBytes } from "../../../sandbox/byte_path.ts";
import type { MaybePromise } from "../../operations.ts";
import type { Slice } from "../../slice.ts";
import type { Deed, DeedName, Results } from "../messages.ts";

/**
 * @param slice Where longer work looks whether it is wanted any more.
 * @throws {ExecError} What the operations throw; the reason of `signal`.
 */
export function perform(deed: Deed, slice: Slice, signal: AbortSignal): MaybePromise<Results[DeedName]> {
  switch (deed.do) {
    case "open":
      return openPath(
        toBytes(deed.path),
        deed.followSymlinks,
        deed.access === "reading" ? READING : WRITING,
        NEW_FILE_MODE,
      );
    case "createDirectory":
      return nothing(createDirectory(toBytes(deed.path), deed.options, slice, signal));
    case "getMetadata":
      return getMetadata(toBytes(deed.path), deed.followSymlinks);
    case "canonicalize":
      return fromBytes(canonicalize(toBytes(deed.path)));
    case "readDirectory":
      return readDirectory(toBytes(deed.path), slice, signal);
    case "walk":
      return walk(toBytes(deed.path), deed.options, slice, signal);
    case "remove":
      return nothing(remove(toBytes(deed.path), deed.options, slice, signal));
    case "copy":
      return nothing(copy(toBytes(deed.source), toBytes(deed.destination), deed.recursive, slice, signal));
  }
}

function nothing(done: MaybePromise<void>): MaybePromise<null> {
  return done === undefined ? null : done.then(() => null);
}
