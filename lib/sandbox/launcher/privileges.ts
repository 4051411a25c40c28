import * as calls from "../../linux/sandbox_calls.ts";
import { EINVAL } from "../../linux/errno.ts";
import { LaunchFailure, must } from "./failure.ts";

/** The kernel has 41 capabilities and room for 64. */
const MAX_CAPABILITIES = 64;

/**
 * Gives up every capability for good. A root user without any is still the owner of root's files, and nothing more.
 *
 * @throws {LaunchFailure} If one could not be given up.
 */
export function dropPrivileges(): void {
  must("prctl PR_CAP_AMBIENT", calls.clearAmbientCapabilities());
  // Without one there is nothing to drop, and no right to do it: no program can get any, see setNoNewPrivileges.
  if (anyCapability()) dropBoundingSet();
  must("capset", calls.dropCapabilities());
  must("prctl PR_SET_NO_NEW_PRIVS", calls.setNoNewPrivileges());
  if (anyCapability()) throw new LaunchFailure("capset: some capability is left");
}

function anyCapability(): boolean {
  const result = calls.hasCapabilities();
  return typeof result === "number" ? must("capget", result) > 0 : result;
}

function dropBoundingSet(): void {
  for (let capability = 0; capability < MAX_CAPABILITIES; capability++) {
    const result = calls.dropFromBoundingSet(capability);
    if (result === -EINVAL && capability > 0) return; // beyond the last one
    must(`prctl PR_CAPBSET_DROP ${capability}`, result);
  }
}
