/** Dials the rendezvous whose URL is the argument, and prints what came of it. */

import { wsDial } from "../../lib/relay/socket/ws_socket.ts";

const [url = ""] = Deno.args;
try {
  const socket = await wsDial(url, { signal: new AbortController().signal, timeoutMs: 10_000 });
  socket.close("at once");
  await socket.gone;
  console.log("open");
} catch (error) {
  if (!(error instanceof Error)) throw error;
  const { cause } = error;
  console.log(error.message, cause instanceof Error && "code" in cause ? cause.code : cause);
}
