/** Configuration, skills and plugins that a client finds on the server's machine. */

import { boolean, identifier, nullable, pathUri, seq, string, u16, u64 } from "../codec.ts";
import { defaulted, omittable, optional, struct } from "../struct.ts";
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

const file = struct("CapabilityTextFile", { path: string, contents: string });
const pluginFiles = struct("DiscoveredPluginFiles", {
  manifest: file,
  mcpConfig: optional(file),
  appsConfig: optional(file),
});

export const discoveredRoot = struct("CapabilityRootDiscovery", {
  id: string,
  path: string,
  plugin: optional(pluginFiles),
  skills: seq(struct("DiscoveredSkillFiles", { instructions: file, metadata: optional(file) })),
  namespaceManifests: seq(file),
  warnings: seq(string),
  error: optional(string),
});
export const discoverRootsResult = struct("CapabilityRootsDiscoverResponse", { roots: seq(discoveredRoot) });

export const discoverV2Params = struct("DiscoverV2CapabilitiesRequest", {
  cwd: pathUri,
  sandbox: defaulted(nullable(discoverySandboxContext), null),
});

const tool = struct("SkillToolDependency", {
  type: string,
  value: string,
  description: optional(string),
  transport: optional(string),
  command: optional(string),
  url: optional(string),
  oauthCallbackPort: optional(u16),
});

const skill = struct("ExecutorSkill", {
  /** With the name of its plugin and a colon before it. */
  name: string,
  description: string,
  shortDescription: optional(string),
  /** Its `SKILL.md`. */
  path: string,
  /** Where it was found; not for the skills of a plugin. */
  discoveryRoot: omittable(struct("SkillDiscoveryRoot", { id: string, path: string })),
  dependencies: optional(struct("SkillDependencies", { tools: seq(tool) })),
  policy: optional(
    struct("SkillPolicy", { allowImplicitInvocation: optional(boolean), products: defaulted(seq(string), []) }),
  ),
});

export const discoverV2Result = struct("DiscoverV2CapabilitiesResponse", {
  plugins: seq(struct("ExecutorPlugin", {
    /** `NAME@MARKETPLACE`. */
    id: string,
    displayName: string,
    /** Its name where it came from. */
    remotePluginId: optional(string),
    version: string,
    root: string,
    files: pluginFiles,
    skills: seq(skill),
  })),
  /** Those outside of plugins. */
  skills: seq(skill),
  warnings: defaulted(seq(string), []),
});
