/** A plan from one process to another: a file in memory that is sealed before it is handed over. */

import * as calls from "../../linux/sandbox_calls.ts";
import { decodePlan, encodePlan, type LaunchPlan, MAX_PLAN_BYTES } from "./launch_plan.ts";
import { LaunchFailure, must, NOT_BY_HAND } from "./failure.ts";

/**
 * The plan in a new file; the descriptor is the caller's, and closed on exec unless it is handed over by number.
 *
 * @throws {Error} If the plan is longer than {@linkcode MAX_PLAN_BYTES} or no file can be made.
 */
export function writePlan(plan: LaunchPlan): number {
  const bytes = encodePlan(plan);
  if (bytes.length > MAX_PLAN_BYTES) throw new LaunchFailure(`the launch plan has ${bytes.length} bytes, too many`);
  const fd = must("memfd_create", calls.sealableFile(calls.cBytes("launch-plan")));
  try {
    for (let rest = bytes; rest.length > 0;) rest = rest.subarray(must("write", calls.write(fd, rest)));
    must("fcntl F_ADD_SEALS", calls.seal(fd));
    return fd;
  } catch (error) {
    calls.close(fd);
    throw error;
  }
}

/**
 * @param fd What the launcher was started with.
 * @throws {Error} If it is not a sealed file in memory with a whole plan.
 */
export function readPlan(fd: number): LaunchPlan {
  if (calls.sealsOf(fd) !== calls.ALL_SEALS) {
    throw new LaunchFailure(NOT_BY_HAND);
  }
  let bytes = new Uint8Array(new ArrayBuffer(64 * 1024));
  let length = 0;
  for (;;) {
    if (length > MAX_PLAN_BYTES) throw new LaunchFailure("the launch plan is too long");
    if (length === bytes.length) {
      const larger = new Uint8Array(new ArrayBuffer(2 * length));
      larger.set(bytes);
      bytes = larger;
    }
    const read = must("pread64", calls.pread(fd, bytes.subarray(length), length));
    if (read === 0) return decodePlan(bytes.subarray(0, length));
    length += read;
  }
}
