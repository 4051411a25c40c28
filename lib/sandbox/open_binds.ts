import { ExecError } from "../errors.ts";
import { errnoText } from "../linux/errno.ts";
import * as calls from "../linux/sandbox_calls.ts";
import { toText } from "./byte_path.ts";
import type { BytePath } from "./policy.ts";

/**
 * Descriptors that say where something is and open nothing, without following a symbolic link anywhere in a path.
 *
 * @param paths Real paths.
 * @returns As many descriptors, the caller's to close.
 * @throws {ExecError} `sandboxUnavailable` if one is no longer there, or a link is in its way now.
 */
export function openBinds(paths: readonly BytePath[]): number[] {
  const open: number[] = [];
  for (const path of paths) {
    const fd = calls.openWithoutLinks(calls.AT_FDCWD, calls.cBytes(path), calls.O_PATH);
    if (fd < 0) {
      for (const other of open) calls.close(other);
      throw new ExecError(
        "sandboxUnavailable",
        `sandbox unavailable: cannot look up ${toText(path)}: ${errnoText(-fd)}`,
      );
    }
    open.push(fd);
  }
  return open;
}
