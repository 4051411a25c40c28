import { ExecError, type ExecErrorKind } from "../errors.ts";
import { EACCES, EINVAL, ENOENT, EPERM, osErrorText } from "../linux/errno.ts";

/**
 * A failure that the system reported, as the other side is told: `TEXT (os error N)`, without path or operation.
 * Operations that can do something about it look at its number.
 */
export class OsError extends ExecError {
  /** @param errno Linux's number, positive. */
  constructor(readonly errno: number) {
    super(kindOf(errno), osErrorText(errno));
  }
}

function kindOf(errno: number): ExecErrorKind {
  if (errno === ENOENT) return "notFound";
  return errno === EACCES || errno === EPERM || errno === EINVAL ? "invalidRequest" : "internal";
}

/**
 * The result of a system call, or what it failed with.
 *
 * @param result A count, a descriptor or 0; negative: the negated error number.
 * @throws {OsError}
 */
export function checked(result: number): number {
  if (result < 0) throw new OsError(-result);
  return result;
}
