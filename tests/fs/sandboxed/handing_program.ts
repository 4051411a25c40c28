/** In the place of a helper: answers each request with more descriptors than there should be. Its connection is 3. */

import { openForReading } from "../../../lib/linux/namespace_calls.ts";
import { receive, send } from "../../../lib/linux/socket_calls.ts";

const SOCKET = 3;
const request = new Uint8Array(new ArrayBuffer(65536));
for (;;) {
  const received = receive(SOCKET, request, { now: false });
  if (typeof received === "number" || received.count === 0) Deno.exit();
  for (const reply of ['{"part":"entries","items":[]}', '{"done":null}']) {
    const body = new TextEncoder().encode(reply);
    // One after the other: each has one with it.
    for (const part of [new Uint8Array([body.length, 0]), new Uint8Array([0, 0]), body]) {
      const isMissing = reply.includes("done") && Deno.args.includes("none");
      send(SOCKET, part, isMissing ? null : openForReading("/proc/self/stat"), { now: false });
    }
  }
}
