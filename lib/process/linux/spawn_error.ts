import { ExecError, type ExecErrorKind } from "../../errors.ts";
import { EACCES, ENOENT, osErrorText } from "../../linux/errno.ts";

const KINDS: ReadonlyMap<number, ExecErrorKind> = new Map([
  [ENOENT, "spawnNotFound"],
  [EACCES, "spawnPermissionDenied"],
]);

/** What the other side is told when the system refused a step of a start. */
export function spawnError(errno: number): ExecError {
  return new ExecError(KINDS.get(errno) ?? "spawnFailed", osErrorText(errno));
}
