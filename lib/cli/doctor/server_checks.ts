import type { Clock } from "../../clock.ts";
import { WIRE_VERSION } from "../../version.ts";
import type { Client } from "../client.ts";
import { type Check, failed, note, ok } from "./check.ts";

/** What the checks of a connected server look at. */
export interface ServerContext {
  readonly client: Client;
  readonly clock: Clock;
  /** Ends waiting for something that does not come. */
  readonly signal: AbortSignal;
}

const STATUS_CALLS = 20;
/** A keystroke in a terminal that takes longer to appear is felt. */
const SLOW_MS = 200;

export const version: Check<ServerContext> = {
  name: "version",
  async look({ client, signal }) {
    const { executorVersion, serverInfo, platformOs } = await client.info({ signal });
    const name = serverInfo === null ? "codex exec-server" : `${serverInfo.name} ${serverInfo.version}`;
    const what = `${name} on ${platformOs ?? "an unknown system"}, wire of ${executorVersion}`;
    if (executorVersion === WIRE_VERSION) return ok(what);
    return note(what, `we speak the wire of ${WIRE_VERSION}; where the two differ, things may not work`);
  },
};

export const latency: Check<ServerContext> = {
  name: "latency",
  async look({ client, clock, signal }) {
    const times: number[] = [];
    for (let call = 0; call < STATUS_CALLS; call++) {
      const before = clock.now();
      const status = await client.status({ signal });
      if (status.state !== "ready") {
        return failed(status.state === "disconnected" ? status.error : "no connection", "the link does not hold");
      }
      times.push(clock.now() - before);
    }
    times.sort((a, b) => a - b);
    const median = (times[STATUS_CALLS / 2 - 1]! + times[STATUS_CALLS / 2]!) / 2;
    const what = `${median.toFixed(1)} ms for an answer (median of ${STATUS_CALLS}, at most ${
      times.at(-1)!.toFixed(1)
    } ms)`;
    return median > SLOW_MS
      ? note(what, "slow for terminals and for many small files; a nearer server helps")
      : ok(what);
  },
};

export const abilities: Check<ServerContext> = {
  name: "abilities",
  async look({ client, signal }) {
    const { capabilities } = await client.info({ signal });
    if (await client.hasExtensions()) return ok("our extensions: window size, any signal, end of input, leases, lists");
    const missing =
      "without our extensions: no window size, no signals but INT and KILL, no end of a program's input, and " +
      "detached programs end after 80 s";
    if (capabilities["fileWriteStreaming"] !== true) {
      return note(`${missing}; files of at most about 12 MiB can be written`);
    }
    return note(missing);
  },
};
