/** Clients of a relay behind a network that misbehaves below the WebSocket: in the middle of frames, in one direction. */
import { connectRelay } from "../../../lib/client/connect.ts";
import { wsDial } from "../../../lib/relay/socket/ws_socket.ts";
import type { ConnectThrough } from "../../client/chaos/run.ts";
import { type ChaosOptions, chaosRuns } from "../../client/chaos/runs.ts";
import type { Tally } from "../../client/chaos/run.ts";
import { Rig } from "./rig.ts";

/** The proxy stands between each client and the rendezvous. */
export async function relayChaos(options: Pick<ChaosOptions, "seed" | "runs" | "atOnce">): Promise<Tally> {
  await using rig = await Rig.start();
  const connectThrough: ConnectThrough = (proxyUrl, options) => {
    const { host } = new URL(proxyUrl);
    const dial: typeof wsDial = (url, options) => wsDial(url.replace(/\/\/[^/]*/, `//${host}`), options);
    return connectRelay({ ...rig.relay, dial }, options);
  };
  const { origin } = new URL(rig.world.rendezvous.url("harness", "any").replace("ws:", "http:"));
  return await chaosRuns({ ...options, url: origin.replace("http:", "ws:"), connectThrough });
}
