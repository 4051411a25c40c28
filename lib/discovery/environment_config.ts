/** `environmentConfig/read`: what this machine's configuration says about some keys. */

import { ExecError } from "../errors.ts";
import { ConfigError, loadingFailed } from "./config/config_file.ts";
import { type LayerStack, loadLayers } from "./config/layers.ts";
import { type DiscoveryFiles, fileErrorText } from "./files.ts";
import { codexHomeUri, type DiscoveryHost, userHomeUri } from "./host.ts";
import { printToml } from "../toml/print.ts";
import { projectToml } from "../toml/project.ts";
import { uriOfPath } from "./uris.ts";

export interface EnvironmentConfigQuery {
  /** A native path, absolute; need not exist. */
  readonly cwd: Uint8Array<ArrayBuffer>;
  /** Keys of the configuration, each a path of names. */
  readonly configPaths: readonly (readonly string[])[];
  readonly requirementsPaths: readonly (readonly string[])[];
}

/** The lowest precedence first. */
export interface ProjectedStack {
  readonly layers: readonly { readonly source: string; readonly baseDir: string; readonly toml: string }[];
  readonly cloudInsertionIndex: number;
}

export interface EnvironmentConfig {
  readonly userHomeDir: string | null;
  readonly codexHomeDir: string;
  readonly hostname: string | null;
  readonly config: ProjectedStack;
  readonly requirements: ProjectedStack;
}

/**
 * @throws {ExecError} `internal` if the configuration cannot be used.
 */
export async function readEnvironmentConfig(
  query: EnvironmentConfigQuery,
  host: DiscoveryHost,
  files: DiscoveryFiles,
): Promise<EnvironmentConfig> {
  const codexHome = await ownCodexHome(host, files);
  try {
    const layers = await loadLayers(files, host, codexHome, uriOfPath(query.cwd));
    return {
      userHomeDir: userHomeUri(host),
      codexHomeDir: codexHome,
      hostname: host.hostname,
      config: projected(layers.config, query.configPaths),
      requirements: projected(layers.requirements, query.requirementsPaths),
    };
  } catch (error) {
    if (error instanceof ConfigError) throw loadingFailed(error);
    throw error;
  }
}

async function ownCodexHome(host: DiscoveryHost, files: DiscoveryFiles): Promise<string> {
  try {
    return await codexHomeUri(host, files);
  } catch (error) {
    throw new ExecError("internal", `failed to find Codex home: ${fileErrorText(error)}`, { cause: error });
  }
}

/**
 * To be called before anything else of the request is looked at.
 *
 * @throws {ExecError} `invalidParams` for paths that select nothing or everything.
 */
export function checkPaths(configPaths: readonly (readonly string[])[], requirementsPaths: typeof configPaths): void {
  const paths = [...configPaths, ...requirementsPaths];
  if (paths.length === 0) {
    throw new ExecError("invalidParams", "at least one config or requirements path is required");
  }
  if (paths.some((path) => path.length === 0)) {
    throw new ExecError("invalidParams", "TOML paths must contain at least one key segment");
  }
}

/** Layers of which nothing is left are left out. */
function projected(stack: LayerStack, paths: readonly (readonly string[])[]): ProjectedStack {
  const layers: { source: string; baseDir: string; toml: string }[] = [];
  let cloudInsertionIndex = 0;
  for (const [index, { source, baseDir, document }] of stack.layers.entries()) {
    const left = projectToml(document, paths);
    if (left === undefined) continue;
    layers.push({ source, baseDir, toml: printToml(left) });
    if (index < stack.cloudInsertionIndex) cloudInsertionIndex++;
  }
  return { layers, cloudInsertionIndex };
}
