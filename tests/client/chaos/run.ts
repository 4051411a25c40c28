/** One client behind a bad network: every byte exactly once or a clear failure, no call left hanging, no timer left. */
import assert from "node:assert/strict";
import type { ClientOptions, ExecClient } from "../../../lib/client/client.ts";
import { ClientError } from "../../../lib/client/client_error.ts";
import { connect } from "../../../lib/client/connect.ts";
import { Random } from "../../program/random.ts";
import { TcpProxy } from "../support/tcp_proxy.ts";
import { CountingClock } from "./counting_clock.ts";
import { type Deed, DEEDS, patterned } from "./deeds.ts";
import { MAX_TROUBLES, troubles } from "./plan.ts";
import { Watchdog } from "./watchdog.ts";

/** No run takes this long unless something hangs: its troubles are over after a few seconds. */
const PATIENCE_MS = 40_000;
const INITIALIZE_TIMEOUT_MS = 1_500;

export interface Tally {
  /** Deeds that came whole, as in the end all do. */
  whole: number;
  /** Attempts before that. */
  failed: number;
  connections: number;
}

/** Connects a client by the URL of a proxy: the bad network. */
export type ConnectThrough = (proxyUrl: string, options: ClientOptions) => Promise<ExecClient>;

/**
 * @param serverUrl What the proxy stands before.
 * @throws {Error} What must not happen, with the seed of the run.
 */
export async function chaosRun(
  seed: number,
  serverUrl: string,
  connectThrough: ConnectThrough = connect,
): Promise<Tally> {
  const watchdog = new Watchdog();
  try {
    return await watchdog.within(PATIENCE_MS, run(new Random(seed), serverUrl, watchdog, connectThrough));
  } catch (error) {
    throw new Error(`run with seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

async function run(
  random: Random,
  serverUrl: string,
  watchdog: Watchdog,
  connectThrough: ConnectThrough,
): Promise<Tally> {
  const clock = new CountingClock();
  const directory = await Deno.makeTempDir({ prefix: "exec-server-chaos-" });
  await using http = patternServer();
  await using proxy = new TcpProxy(serverUrl, { admit: troubles(new Random(random.below(2 ** 31))) });
  const tally: Tally = { whole: 0, failed: 0, connections: 0 };
  try {
    await using environment = await connectAtLast((options) => connectThrough(proxy.url, options), clock, watchdog);
    const info = await untilInfo(environment, watchdog);
    const deeds = Array.from({ length: 2 + random.below(4) }, () => random.pick(DEEDS as [Deed, ...Deed[]]));
    const hasExtensions = info.capabilities["execServerV1"] === true;
    const done = await Promise.allSettled(deeds.map(async (deed, index) => {
      const own = new Random(random.below(2 ** 31));
      const scene = { environment, random: own, watchdog, directory, httpUrl: http.url, hasExtensions };
      // What fails clearly is tried again, by us; in the end nothing stands in its way any more.
      for (let attempt = 1; await deed(scene, `${index}: ${deed.name} ${attempt}`) !== "whole"; attempt++) {
        tally.failed++;
        assert.ok(attempt <= MAX_TROUBLES, `${deed.name} fails more often than there are troubles`);
      }
      tally.whole++;
    }));
    const thrown = done.find(({ status }) => status === "rejected");
    if (thrown?.status === "rejected") throw thrown.reason;
    assert.equal(environment.failure, undefined, "the outages are shorter than the deadlines");
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
  assert.equal(clock.pendingTimers, 0, "a client that has ended leaves no timer");
  return { ...tally, connections: proxy.accepted };
}

/** The first connection is tried once by a client, and again by us. */
async function connectAtLast(
  connect: (options: ClientOptions) => Promise<ExecClient>,
  clock: CountingClock,
  watchdog: Watchdog,
): Promise<ExecClient> {
  for (let attempt = 1;; attempt++) {
    try {
      const options = { clock, initializeTimeoutMs: INITIALIZE_TIMEOUT_MS };
      return await watchdog.watch(`connect ${attempt}`, connect(options));
    } catch (error) {
      if (!(error instanceof ClientError && error.retryable)) throw error;
      assert.equal(clock.pendingTimers, 0, "an attempt that has failed leaves no timer");
    }
  }
}

async function untilInfo(environment: ExecClient, watchdog: Watchdog) {
  for (;;) {
    try {
      return await watchdog.watch("info", environment.info());
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
    }
  }
}

function patternServer(): AsyncDisposable & { readonly url: string } {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    return new Response(patterned(Number(new URL(request.url).pathname.slice(1))));
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
