import { OPERATING_SYSTEM } from "../operating_system.ts";
import { hostFacts } from "../process/host_facts.ts";
import { EXTENSIONS_CAPABILITY } from "../protocol/extensions.ts";
import type { Result } from "../protocol/methods.ts";
import { VERSION, WIRE_VERSION } from "../version.ts";

/**
 * What `initialize` and `environment/info` tell of this machine. Read from the process once: nothing in it changes
 * while the server runs.
 */
export async function environmentInfo(): Promise<Result<"environment/info">> {
  return {
    ...await hostFacts(),
    executorVersion: WIRE_VERSION,
    serverInfo: { name: "exec-server", version: VERSION },
    prependPathDirs: [],
    capabilities: CAPABILITIES,
  };
}

/** Where there are back ends for sandboxes that hold programs and files alike. */
const CONFINES = OPERATING_SYSTEM === "linux";

/** A name is true only when the thing works; clients do not fall back once it is. */
const CAPABILITIES: Result<"environment/info">["capabilities"] = {
  networkProxyLaunch: false,
  networkProxyReviewDomains: false,
  networkProxyTransparentTcp: false,
  credentialMasking: false,
  credentialMaskingCustomProviders: false,
  capabilityDiscoverySandbox: CONFINES,
  fsWatchMissing: true,
  capabilityDiscoveryV2: true,
  environmentConfigRead: true,
  httpHeaderEnvVars: true,
  sandboxedFileStreaming: CONFINES,
  fileWriteStreaming: true,
  shellSnapshotV2: false,
  windowsMxc: false,
  /** Whoever may write everything but for some paths has the devices that everybody needs. */
  linuxRootWritePreservesDevices: CONFINES,
  /** Those paths stay what they are, whatever has been approved. */
  linuxApprovedRootWritePreservesRestrictions: CONFINES,
  [EXTENSIONS_CAPABILITY]: true,
};
