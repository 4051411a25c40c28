import { registrationSecrets, remoteCredential, remoteSigner } from "../server/remote_credential.ts";
import { removeLeftovers } from "../server/leftovers.ts";
import { runRemoteEnvironment } from "../server/remote_environment.ts";
import type { Cli } from "./command.ts";
import { type RemoteOptions, remoteOptions } from "./remote_options.ts";
import type { RemoteServeOptions } from "./serve_options.ts";
import { untilTold } from "./until_told.ts";

/** What of the server's options `forward` has as well. */
export function remoteOptionsOf({ args, trustedRegistries }: RemoteServeOptions): RemoteOptions {
  return remoteOptions({ has: args.has.bind(args), get: args.get.bind(args), all: () => trustedRegistries });
}

/** `exec-server --remote`. @returns The exit code. */
export async function runRemote(remote: RemoteServeOptions, cli: Cli): Promise<number> {
  const { concurrentRequests, maxDetachedMs, sandbox: choice } = remote;
  const options = remoteOptionsOf(remote);
  const { registry, environmentId, credential, aws } = options;
  const sandbox = { choice, secretPaths: await registrationSecrets(options, cli) };
  const serving = { registry, environmentId, concurrentRequests, maxDetachedMs, sandbox };
  if (aws === null) {
    return await untilTold(
      options,
      cli,
      (sources) => remoteCredential(credential, sources),
      (scope) => {
        void removeLeftovers(scope.log);
        return runRemoteEnvironment({ ...serving, ...scope });
      },
    );
  }
  return await untilTold(
    options,
    cli,
    (sources) => remoteSigner(aws, sources),
    ({ auth: signer, ...scope }) => {
      void removeLeftovers(scope.log);
      return runRemoteEnvironment({ ...serving, ...scope, signer });
    },
  );
}
