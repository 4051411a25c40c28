/** What `process/start` checks after the handshake and before the process table, in the order in which it is called. */

import { ExecError } from "../errors.ts";
import type { NativePath } from "../native_path.ts";
import { OPERATING_SYSTEM } from "../operating_system.ts";
import type { PathUri } from "../path_uri.ts";
import type { ProgramConfinement } from "../sandbox/confine_program.ts";
import type { Params } from "./methods.ts";
import { restrictsNothing } from "./sandbox.ts";
import { programPolicy } from "./sandbox_policy.ts";

/** What a sandbox object makes of `sandboxType`, on this system, even when it restricts nothing. */
const SANDBOX_TYPE = OPERATING_SYSTEM === "linux"
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

/** Where a program is to run, and what confines it there. */
export interface StartPlace {
  readonly cwd: NativePath;
  readonly sandboxType: string;
  /** null: nothing. */
  readonly confinement: ProgramConfinement | null;
}

/**
 * @param env All variables that the program gets.
 * @param isExternal Somebody else holds programs to their sandboxes, if they are held at all.
 * @throws {ExecError} `invalidParams` or `sandboxPreparation` for what this machine cannot have; `sandboxUnsupported` and
 * `sandboxUnavailable` for what no server here can do.
 */
export function startPlace(
  params: Params<"process/start">,
  env: ReadonlyMap<string, string>,
  isExternal: boolean,
): StartPlace {
  const { sandbox } = params;
  if (sandbox === null) return { cwd: nativeCwd(params.cwd), sandboxType: "none", confinement: null };
  if (sandbox.windowsSandboxLevel === "mxc") {
    throw new ExecError("sandboxUnsupported", "native MXC is unavailable on this executor");
  }
  if (params.argv.length === 0) throw new ExecError("invalidParams", "argv must not be empty");
  const { policy, cwd } = programPolicy(sandbox, { cwd: params.cwd, env });
  if (params.enforceManagedNetwork) {
    throw new ExecError("sandboxUnavailable", "this server has no managed network and runs no program that needs one");
  }
  if (isExternal) return { cwd, sandboxType: "none", confinement: null };
  const { useLegacyLandlock } = sandbox;
  const confinement = restrictsNothing(sandbox) ? null : { policy, useLegacyLandlock };
  return { cwd, sandboxType: SANDBOX_TYPE, confinement };
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
function nativeCwd(uri: PathUri): NativePath {
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
