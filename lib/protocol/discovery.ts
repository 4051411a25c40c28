/** Configuration, skills and plugins that a client finds on the server's machine. */

import { anything, identifier, nullable, pathUri, seq, string, u64 } from "../codec.ts";
import { defaulted, optional, struct } from "../struct.ts";
import { discoverySandboxContext, sandboxContext } from "./sandbox.ts";

const tomlPath = seq(string);

export const environmentConfigReadParams = struct("EnvironmentConfigReadParams", {
  cwd: pathUri,
  /** Keys of the configuration, each a path of at least one name. */
  configPaths: seq(tomlPath),
  requirementsPaths: seq(tomlPath),
});

const layers = struct("EnvironmentConfigLayers", {
  /** Lowest precedence first. */
  layers: seq(struct("EnvironmentConfigLayer", { source: string, baseDir: optional(string), toml: string })),
  cloudInsertionIndex: u64,
});

export const environmentConfigReadResult = struct("EnvironmentConfigReadResponse", {
  userHomeDir: optional(string),
  codexHomeDir: optional(string),
  hostname: optional(string),
  config: layers,
  requirements: layers,
});

export const discoverRootsParams = struct("WireCapabilityRootsDiscoverParams", {
  roots: seq(
    struct("WireCapabilityRootDiscoverRequest", { id: identifier, path: pathUri, sandbox: optional(sandboxContext) }),
  ),
});

const file = struct("CapabilityFile", { path: string, contents: string });
export const discoverRootsResult = struct("CapabilityRootsDiscoverResponse", {
  roots: seq(struct("CapabilityRootDiscovery", {
    id: string,
    path: string,
    plugin: optional(struct("CapabilityPlugin", {
      manifest: file,
      mcpConfig: optional(file),
      appsConfig: optional(file),
    })),
    skills: seq(struct("CapabilitySkill", { instructions: file, metadata: optional(file) })),
    namespaceManifests: seq(file),
    warnings: seq(string),
    error: optional(string),
  })),
});

export const discoverV2Params = struct("DiscoverV2CapabilitiesRequest", {
  cwd: pathUri,
  sandbox: defaulted(nullable(discoverySandboxContext), null),
});

/** What a plugin or a skill looks like here is not known to us: they are handed on as they are. */
export const discoverV2Result = struct("DiscoverV2CapabilitiesResponse", {
  plugins: seq(anything),
  skills: seq(anything),
  warnings: seq(anything),
});
