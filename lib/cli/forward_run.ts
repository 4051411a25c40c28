import { remoteCredential } from "../server/remote_credential.ts";
import { runForward } from "../server/remote_environment.ts";
import type { Cli } from "./command.ts";
import type { CommandArguments } from "./command_arguments.ts";
import { remoteOptions } from "./remote_options.ts";
import { untilTold } from "./until_told.ts";

/** `exec-server forward`. @returns The exit code. */
export function runForwardCommand(args: CommandArguments, cli: Cli): Promise<number> {
  const options = remoteOptions(args);
  const connect = args.get("--connect")!;
  const { registry, environmentId } = options;
  return untilTold(
    options,
    cli,
    (sources) => remoteCredential(options.credential, sources),
    (scope) => runForward({ registry, environmentId, connect, ...scope }),
  );
}
