import type { DiscoveryFiles } from "../files.ts";
import type { DiscoveryHost } from "../host.ts";
import type { TomlTable } from "../../toml/value.ts";
import { childUri, displayPath, uriOfPath } from "../uris.ts";
import { excerptOf, type FailureWords, placeOf, readConfigFile } from "./config_file.ts";
import { legacyRequirements } from "./legacy_requirements.ts";
import { mergeTables } from "./merge.ts";
import { projectLayers } from "./project_layers.ts";

/** One source of configuration. */
export interface Layer {
  /** For people. */
  readonly source: string;
  /** The directory from which relative paths in it are taken, as a URI. */
  readonly baseDir: string;
  readonly document: TomlTable;
}

/** The lowest precedence first. */
export interface LayerStack {
  readonly layers: readonly Layer[];
  /** Where a client puts what it got from elsewhere: before the layer of that number. */
  readonly cloudInsertionIndex: number;
}

const CONFIG_FILE = "config.toml";

const CONFIG_WORDS: FailureWords = {
  read: (path, reason) => `Failed to read config file ${path}: ${reason}`,
  parse: placeOf,
};
const MANAGED_WORDS: FailureWords = { read: (_path, reason) => reason, parse: placeOf };
const REQUIREMENTS_WORDS: FailureWords = {
  read: (path, reason) => `Failed to read requirements file ${path}: ${reason}`,
  parse: (path, error, text) => `failed to parse requirements layer ${path}: ${excerptOf(error, text)}`,
};

/**
 * All that this machine says about the configuration for work in `cwd`: for all users, for this user, for the trusted
 * projects in which `cwd` lies, and what the administrator insists on.
 *
 * @param codexHome As a URI.
 * @param cwd As a URI; need not exist.
 * @throws {ConfigError} If one of the files cannot be used.
 */
export async function loadLayers(
  files: DiscoveryFiles,
  host: DiscoveryHost,
  codexHome: string,
  cwd: string,
): Promise<{ readonly config: LayerStack; readonly requirements: LayerStack }> {
  const systemDir = uriOfPath(host.systemConfigDir);
  const inSystem = (name: string) => childUri(systemDir, name);
  const userFile = childUri(codexHome, CONFIG_FILE);

  const managed = await readConfigFile(files, inSystem("managed_config.toml"), MANAGED_WORDS);
  const system = await readConfigFile(files, inSystem(CONFIG_FILE), CONFIG_WORDS) ?? new Map();
  const user = await readConfigFile(files, userFile, CONFIG_WORDS) ?? new Map();
  const effective = mergeTables([system, user, ...(managed === undefined ? [] : [managed])]);

  const requirements = await readConfigFile(files, inSystem("requirements.toml"), REQUIREMENTS_WORDS);
  const projects = await projectLayers(files, effective, codexHome, cwd);

  const layer = (kind: string, file: string, baseDir: string, document: TomlTable): Layer => {
    return { source: `${kind}${displayPath(file)}${kind === "" ? "" : ")"}`, baseDir, document };
  };
  const configLayers = [
    layer("system (", inSystem(CONFIG_FILE), systemDir, system),
    layer("user (", userFile, codexHome, user),
    ...projects.map(({ directory, document }) =>
      layer("project (", childUri(directory, CONFIG_FILE), directory, document)
    ),
  ];
  const requirementLayers = requirements === undefined
    ? []
    : [layer("", inSystem("requirements.toml"), systemDir, requirements)];
  const cloudRequirements = requirementLayers.length;
  if (managed !== undefined) {
    const file = inSystem("managed_config.toml");
    configLayers.push(layer("legacy managed_config.toml (", file, systemDir, managed));
    requirementLayers.push(layer("", file, systemDir, legacyRequirements(managed)));
  }
  return {
    config: { layers: configLayers, cloudInsertionIndex: 1 },
    requirements: { layers: requirementLayers, cloudInsertionIndex: cloudRequirements },
  };
}
