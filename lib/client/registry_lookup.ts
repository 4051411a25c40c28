import type { Clock } from "../clock.ts";
import type { HarnessBundle } from "../relay/registry/registry.ts";
import { CONNECT_REQUEST_TIMEOUT_MS, CONNECT_RETRIES, CONNECT_TOTAL_TIMEOUT_MS } from "../relay/limits.ts";
import { pause } from "../abortable.ts";
import { ClientError } from "./client_error.ts";
import { randomId } from "./random_id.ts";
import { registryPauseMs } from "./registry_pause.ts";

/**
 * Where an environment is, for a client that does not have a session there yet: a request may take 6 s, four more are made
 * after failures that may pass, and 14 s after the first has begun the last failure stands.
 *
 * @param ask One request, with its limit in milliseconds.
 * @throws {ClientError} Why nobody said where. Or the signal's reason.
 */
export async function firstBundle(
  ask: (timeoutMs: number) => Promise<HarnessBundle>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<HarnessBundle> {
  const until = clock.now() + CONNECT_TOTAL_TIMEOUT_MS;
  // So that many who come at the same time do not come back at the same time.
  const key = randomId();
  let last: ClientError | undefined;
  for (let attempt = 0;; attempt++) {
    try {
      return await ask(Math.min(CONNECT_REQUEST_TIMEOUT_MS, until - clock.now()));
    } catch (error) {
      if (!(error instanceof ClientError) || !error.retryable || attempt === CONNECT_RETRIES) throw error;
      // That it was cut short by the whole lookup's limit says less than why the one before failed.
      if (clock.now() >= until) throw last ?? error;
      last = error;
      const pauseMs = registryPauseMs(key, attempt);
      if (clock.now() + pauseMs >= until) throw error;
      await pause(clock, pauseMs, signal);
    }
  }
}
