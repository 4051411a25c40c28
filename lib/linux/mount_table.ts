/** The table of mounts of a namespace, of which the kernel tells when it has changed. */

import { close } from "./libc.ts";
import { openForReading } from "./namespace_calls.ts";
import { bytesOf, systemCall } from "./system_call.ts";

const PPOLL = Deno.build.arch === "aarch64" ? 73 : 271;
const POLLPRI = 0x002;

/** Whether the table of mounts has changed since it was asked last: of an open `mountinfo`; or a negated error number. */
export function hasTableChanged(fd: number): boolean | number {
  const poll = new DataView(new ArrayBuffer(8));
  poll.setInt32(0, fd, true);
  poll.setInt16(4, POLLPRI, true);
  const noTime = new BigInt64Array(2);
  const result = systemCall(PPOLL, bytesOf(poll), 1, bytesOf(noTime), 0, 0);
  return result < 0 ? result : (poll.getInt16(6, true) & POLLPRI) !== 0;
}

/**
 * The mounts that this process sees. A process that was given namespaces of its own keeps what it was born with where the
 * machine's mounts do not propagate, as in most containers.
 */
export class OwnMounts implements Disposable {
  #fd = openForReading("/proc/self/mountinfo");
  #changes = 0;

  /** Another number whenever something was mounted or unmounted; where that cannot be told, each time. */
  get changes(): number {
    if (this.#fd < 0 || hasTableChanged(this.#fd) !== false) this.#changes++;
    return this.#changes;
  }

  [Symbol.dispose](): void {
    if (this.#fd >= 0) close(this.#fd);
    this.#fd = -1;
  }
}
