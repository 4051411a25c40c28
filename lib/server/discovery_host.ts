import type { DiscoveryHost } from "../discovery/host.ts";
import { hostName } from "../discovery/host_name.ts";
import { ownDirectory } from "../own_directory.ts";
import { account } from "../process/account.ts";

/** Whose files are discovered: those of the user that runs the server. Source of the directory for all users: the reference. */
export async function discoveryHost(environment: ReadonlyMap<string, string>): Promise<DiscoveryHost> {
  return {
    home: environment.get("HOME") || (await account()).home,
    codexHome: environment.get("CODEX_HOME") ?? null,
    hostname: await hostName(),
    systemConfigDir: "/etc/codex",
    cwd: ownDirectory() ?? null,
  };
}
