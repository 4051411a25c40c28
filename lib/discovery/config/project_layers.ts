import type { DiscoveryFiles } from "../files.ts";
import { isArray, type TomlTable } from "../../toml/value.ts";
import { childUri, selfAndAncestors, uriOfPath } from "../uris.ts";
import { ConfigError, excerptOf, type FailureWords, readConfigFile, readConfigText } from "./config_file.ts";
import { ProjectTrust } from "./project_trust.ts";

/** What a directory of a project says about its configuration. */
export interface ProjectLayer {
  /** The `.codex` directory, as a URI. */
  readonly directory: string;
  readonly document: TomlTable;
}

/** What marks the root of a project when the configuration names nothing else. */
const DEFAULT_ROOT_MARKERS = [".git"];

/**
 * A project comes from wherever its files come from, so it has no say in where credentials are sent or which programs
 * learn of the user's work.
 */
const NOT_FOR_PROJECTS = [
  "openai_base_url",
  "chatgpt_base_url",
  "apps_mcp_product_sku",
  "responses_api_metadata",
  "model_provider",
  "model_providers",
  "notify",
  "profile",
  "profiles",
  "experimental_realtime_webrtc_call_base_url",
  "experimental_realtime_ws_base_url",
  "otel",
];

const WORDS: FailureWords = {
  read: (path, reason) => `Failed to read project config file ${path}: ${reason}`,
  parse: (path, error, text) => `Error parsing project config file ${path}: ${excerptOf(error, text)}`,
};
const HOOKS_WORDS: FailureWords = {
  read: (path, reason) => `Failed to read project hooks config file ${path}: ${reason}`,
  parse: (path, error, text) => `Error parsing project hooks config file ${path}: ${excerptOf(error, text)}`,
};

/**
 * The layers of the directories from the root of the project down to `cwd`, as far as the user trusts them.
 *
 * @param effective What the other layers say together.
 * @throws {ConfigError} Also for the file of a project that is not trusted, if it cannot be read.
 */
export async function projectLayers(
  files: DiscoveryFiles,
  effective: TomlTable,
  codexHome: string,
  cwd: string,
): Promise<ProjectLayer[]> {
  const root = await findProjectRoot(files, cwd, rootMarkers(effective));
  const trust = await ProjectTrust.load(files, effective, root, cwd);
  const ownDirectory = await files.canonicalOrSame(codexHome);
  const layers: ProjectLayer[] = [];
  for (const directory of directoriesBetween(root, cwd)) {
    const dotCodex = childUri(directory, ".codex");
    if (!(await files.metadataIfVisible(dotCodex))?.isDirectory) continue;
    // The user's own configuration is no project's.
    if (dotCodex === codexHome || await files.canonicalOrSame(dotCodex) === ownDirectory) continue;
    layers.push(...await readLayers(files, directory, dotCodex, trust));
  }
  return layers;
}

function rootMarkers(effective: TomlTable): readonly string[] {
  const markers = effective.get("project_root_markers");
  if (markers === undefined) return DEFAULT_ROOT_MARKERS;
  if (isArray(markers) && markers.every((marker) => typeof marker === "string")) return markers;
  throw new ConfigError("project_root_markers must be an array of strings");
}

/** The nearest directory with a marker; `cwd` itself if there is none. */
async function findProjectRoot(
  files: DiscoveryFiles,
  cwd: string,
  markers: readonly string[],
): Promise<string> {
  if (markers.length === 0) return cwd;
  for (const directory of selfAndAncestors(cwd)) {
    for (const marker of markers) {
      if (await files.metadataIfVisible(uriOfPath(marker, directory)) !== undefined) return directory;
    }
  }
  return cwd;
}

/** From the root down. */
function directoriesBetween(root: string, cwd: string): string[] {
  const directories: string[] = [];
  for (const directory of selfAndAncestors(cwd)) {
    directories.unshift(directory);
    if (directory === root) break;
  }
  return directories;
}

async function readLayers(
  files: DiscoveryFiles,
  directory: string,
  dotCodex: string,
  trust: ProjectTrust,
): Promise<ProjectLayer[]> {
  const file = childUri(dotCodex, "config.toml");
  if (!(await trust.trusts(directory))) {
    // What it says does not matter, only whether it can be read.
    await readConfigText(files, file, WORDS);
    return [];
  }
  const kept = new Map(await readConfigFile(files, file, WORDS));
  for (const key of NOT_FOR_PROJECTS) kept.delete(key);
  const hooksFolder = trust.hooksFolderOf(directory);
  if (hooksFolder === undefined) return [{ directory: dotCodex, document: kept }];
  kept.delete("hooks");
  const main = await readConfigFile(files, childUri(hooksFolder, "config.toml"), HOOKS_WORDS);
  const hooks = main?.get("hooks");
  const layers: ProjectLayer[] = [{ directory: dotCodex, document: kept }];
  if (hooks !== undefined) layers.push({ directory: hooksFolder, document: new Map([["hooks", hooks]]) });
  return layers;
}
