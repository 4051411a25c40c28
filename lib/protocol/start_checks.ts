/** What `process/start` checks after the handshake and before the process table, in the order in which it is called. */

import { ExecError } from "../errors.ts";
import { OPERATING_SYSTEM } from "../operating_system.ts";
import type { PathUri } from "../path_uri.ts";
import type { Params } from "./methods.ts";
import { restrictsNothing } from "./sandbox.ts";

/** What a sandbox object makes of `sandboxType`, on this system, even when it restricts nothing. */
export const SANDBOX_TYPE = OPERATING_SYSTEM === "linux"
  ? "linuxSeccomp"
  : OPERATING_SYSTEM === "darwin"
  ? "macosSeatbelt"
  : "windowsRestrictedToken";

/** Never run unfiltered what asked for a filter. */
export function refuseNetworkControl(params: Params<"process/start">): void {
  if (params.networkProxy !== null) {
    throw new ExecError("invalidParams", "networkProxy is not supported by this server");
  }
  if (params.managedNetwork !== null) {
    throw new ExecError("invalidParams", "managedNetwork is not supported by this server");
  }
}

/** Never run unconfined what asked to be confined. */
export function refuseSandbox(params: Params<"process/start">): void {
  if (params.sandbox?.windowsSandboxLevel === "mxc") {
    throw new ExecError("invalidParams", "native MXC is unavailable on this executor");
  }
  if (params.sandbox !== null && (params.enforceManagedNetwork || !restrictsNothing(params.sandbox))) {
    throw new ExecError("sandboxUnavailable", "this server has no sandbox yet and does not run the program without it");
  }
}

/**
 * Snapshots are not used (capability `shellSnapshotV2` is false), but a scope that no server takes is refused here too.
 * A missing program is refused before it, by the process table.
 */
export function checkSnapshotScope({ argv, shellSnapshot }: Params<"process/start">): void {
  if (shellSnapshot === null || argv.length === 0) return;
  const bytes = new TextEncoder().encode(shellSnapshot.scopeId).length;
  if (bytes < 1 || bytes > 256) {
    throw new ExecError("invalidParams", "shell snapshot scope must be non-empty and at most 256 bytes");
  }
}

/** @throws {ExecError} `invalidParams` if the URI names nothing on this machine. */
export function nativeCwd(uri: PathUri): Uint8Array<ArrayBuffer> {
  try {
    return uri.toNative();
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    throw new ExecError(
      "invalidParams",
      `cwd URI \`${uri.text}\` is not valid on this exec-server host: ${error.message}`,
      { cause: error },
    );
  }
}
