import type { Log } from "../log.ts";
import { logObserver } from "../log_observer.ts";
import { noObserver } from "../observer.ts";
import { remoteCredential, remoteSigner } from "../server/remote_credential.ts";
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
  const { registry, environmentId, credential, aws } = options;
  const serving = (log: Log) => ({
    ...{ registry, environmentId, concurrentRequests, maxDetachedMs, log },
    observer: options.logLevel === "debug" ? logObserver(log) : noObserver,
  });
  if (aws === null) {
    return untilTold(
      options,
      cli,
      (sources) => remoteCredential(credential, sources),
      ({ log, auth, signal }) => runRemoteEnvironment({ ...serving(log), auth, signal }),
    );
  }
  return untilTold(
    options,
    cli,
    (sources) => remoteSigner(aws, sources),
    ({ log, auth: signer, signal }) => runRemoteEnvironment({ ...serving(log), signer, signal }),
  );
}
