import { account } from "../process/account.ts";
import { PathUri } from "../path_uri.ts";
import { EXTENSIONS_CAPABILITY } from "../protocol/extensions.ts";
import type { Result } from "../protocol/methods.ts";
import { VERSION, WIRE_VERSION } from "../version.ts";

/**
 * What `initialize` and `environment/info` tell of this machine. Read from the process once: nothing in it changes
 * while the server runs.
 */
export async function environmentInfo(): Promise<Result<"environment/info">> {
  const { shell, home } = await account();
  const userHome = Deno.env.get("HOME") || home;
  const cwd = workingDirectory();
  const temporary = Deno.env.get("TMPDIR");
  const absolute = (path: string) => path.startsWith("/") || cwd === null ? path : `${cwd}/${path}`.replace(/\/$/, "");
  const directory = (path: string) => PathUri.fromNative(path);
  return {
    shell,
    executorVersion: WIRE_VERSION,
    serverInfo: { name: "exec-server", version: VERSION },
    providerId: await providerId(),
    cwd: cwd === null ? null : directory(cwd),
    userHomeDir: userHome === null ? null : directory(userHome),
    platformOs: PLATFORM_NAMES[Deno.build.os] ?? Deno.build.os,
    prependPathDirs: [],
    temporaryDirectories: temporary ? [directory(absolute(temporary))] : [],
    tempDir: directory(absolute(temporary ?? "/tmp")),
    capabilities: CAPABILITIES,
  };
}

const PLATFORM_NAMES: Readonly<Record<string, string>> = { linux: "linux", darwin: "macos", windows: "windows" };

/** A name is true only when the thing works; clients do not fall back once it is. */
const CAPABILITIES: Result<"environment/info">["capabilities"] = {
  networkProxyLaunch: false,
  networkProxyReviewDomains: false,
  networkProxyTransparentTcp: false,
  credentialMasking: false,
  credentialMaskingCustomProviders: false,
  capabilityDiscoverySandbox: false,
  fsWatchMissing: true,
  capabilityDiscoveryV2: true,
  environmentConfigRead: true,
  httpHeaderEnvVars: true,
  sandboxedFileStreaming: false,
  fileWriteStreaming: true,
  shellSnapshotV2: false,
  windowsMxc: false,
  linuxRootWritePreservesDevices: false,
  linuxApprovedRootWritePreservesRestrictions: false,
  [EXTENSIONS_CAPABILITY]: true,
};

function workingDirectory(): string | null {
  try {
    return Deno.cwd();
  } catch (error) {
    // The directory has been removed under us; clients know null.
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/**
 * One value for one installation, machine and user, the same after every start, with nothing written to disk: clients
 * only compare it.
 */
async function providerId(): Promise<string> {
  const parts = [
    Deno.execPath(),
    import.meta.dirname ?? "",
    Deno.hostname(),
    String(Deno.uid() ?? Deno.env.get("USERNAME")),
  ];
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(parts.join("\0")));
  return `sha256:${[...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
