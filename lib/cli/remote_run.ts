import { logObserver } from "../log_observer.ts";
import { noObserver } from "../observer.ts";
import { runRemoteEnvironment } from "../server/remote_environment.ts";
import type { Cli } from "./command.ts";
import { remoteOptions } from "./remote_options.ts";
import type { RemoteServeOptions } from "./serve_options.ts";
import { untilTold } from "./until_told.ts";

/** `exec-server --remote`. @returns The exit code. */
export function runRemote(
  { args, trustedRegistries, concurrentRequests, maxDetachedMs }: RemoteServeOptions,
  cli: Cli,
): Promise<number> {
  const given = { has: args.has.bind(args), get: args.get.bind(args), all: () => trustedRegistries };
  const options = remoteOptions(given);
  return untilTold(options, cli, ({ log, auth, signal }) =>
    runRemoteEnvironment({
      registry: options.registry,
      environmentId: options.environmentId,
      auth,
      signal,
      log,
      observer: options.logLevel === "debug" ? logObserver(log) : noObserver,
      concurrentRequests,
      maxDetachedMs,
    }));
}
