/** For a launcher that was started before there was anything to do. */

import { duplicate } from "../../linux/sandbox_calls.ts";
import { close } from "../../linux/system_call.ts";
import { receive } from "../../linux/socket_calls.ts";
import { LaunchFailure, must } from "./failure.ts";

const STREAMS = [0, 1, 2];

/**
 * Waits until the server says what to do, and takes over the standard descriptors of the program.
 *
 * @param socket Nothing comes over it but the plan and the three, each with a message of one byte.
 * @returns The descriptor of the plan.
 * @throws {LaunchFailure} If the server needs no launcher any more, which is how it says so.
 */
export function receiveLaunch(socket: number): number {
  const plan = receiveOne(socket);
  for (const stream of STREAMS) {
    const given = receiveOne(socket);
    must(`dup3 ${stream}`, duplicate(given, stream));
    close(given);
  }
  return plan;
}

function receiveOne(socket: number): number {
  const received = receive(socket, new Uint8Array(new ArrayBuffer(1)), { now: false });
  if (typeof received === "number") return must("recvmsg", received);
  if (received.count === 0 || received.fd === null) throw new LaunchFailure("it is no longer needed");
  return received.fd;
}
