import { type DiscoveryFiles, fileErrorText, type WalkOptions, type WalkResult } from "../files.ts";
import { baseName, childUri, parentUri, selfAndAncestors } from "../uris.ts";
import { Bundle, type TextFile } from "./bundle.ts";
import { declarations, MANIFEST_PATHS } from "./manifest.ts";

export interface Plugin {
  readonly manifest: TextFile;
  readonly mcpConfig: TextFile | null;
  readonly appsConfig: TextFile | null;
}

export interface Skill {
  /** Its `SKILL.md`. */
  readonly instructions: TextFile;
  readonly metadata: TextFile | null;
}

/** What was found below one root. */
export interface RootDiscovery {
  /** If the root itself is one. */
  readonly plugin: Plugin | null;
  /** By path. */
  readonly skills: readonly Skill[];
  /** The manifests that give names to what is below them: first the one of the root or nearest above it, then by path. */
  readonly namespaceManifests: readonly TextFile[];
  readonly warnings: readonly string[];
  /** Why nothing can be found there at all. */
  readonly error: string | null;
}

/** Source of the numbers: as the reference. */
const SCAN: WalkOptions = {
  maxDepth: 6,
  maxDirectories: 2_000,
  maxEntries: 20_000,
  followDirectorySymlinks: true,
  pruneHiddenDirectories: false,
};

/**
 * @param root As a URI; one with a foreign host is an error of the root as any other.
 */
export async function discoverRoot(root: string, files: DiscoveryFiles): Promise<RootDiscovery> {
  const scan = await scanRoot(root, files);
  if (typeof scan === "string") return failedRoot(scan);
  const bundle = new Bundle(files);
  bundle.warnings.push(
    ...scan.errors.map(({ path, message }) => `failed to scan capability path ${path}: ${message}`),
  );
  if (scan.truncated) bundle.warnings.push(`capability scan reached its traversal limit (root: ${root})`);
  const found = scan.entries.filter(({ kind }) => kind === "file").map(({ path }) => path);

  const rootManifest = await readManifest(root, bundle);
  const namespaceManifests = await readNamespaces(root, rootManifest, found, bundle);
  const plugin = rootManifest === null ? null : await readPlugin(root, rootManifest, bundle, files);
  const skills = await readSkills(found, bundle);
  return { plugin, skills, namespaceManifests, warnings: bundle.warnings, error: null };
}

export function failedRoot(error: string): RootDiscovery {
  return { plugin: null, skills: [], namespaceManifests: [], warnings: [], error };
}

/** What is below the root, or why nothing is. */
async function scanRoot(root: string, files: DiscoveryFiles): Promise<WalkResult | string> {
  try {
    const { isDirectory } = await files.metadata(root);
    if (!isDirectory) return `capability root ${root} is not a directory`;
  } catch (error) {
    return inspectionFailure(root, fileErrorText(error));
  }
  try {
    return await files.walk(root, SCAN);
  } catch (error) {
    return `failed to scan capability root ${root}: ${fileErrorText(error)}`;
  }
}

export function inspectionFailure(root: string, reason: string): string {
  return `failed to inspect capability root ${root}: ${reason}`;
}

/** The first of the manifests of a plugin that can be read. */
async function readManifest(root: string, bundle: Bundle): Promise<TextFile | null> {
  for (const path of MANIFEST_PATHS) {
    const manifest = await bundle.read(childUri(root, path));
    if (manifest !== null) return manifest;
  }
  return null;
}

/** Of each directory one manifest: the root's own, or else the nearest above it, and those below. */
async function readNamespaces(
  root: string,
  rootManifest: TextFile | null,
  found: readonly string[],
  bundle: Bundle,
): Promise<TextFile[]> {
  const manifests: TextFile[] = [];
  const seen = new Set<string>();
  const inherited = rootManifest ?? await readManifestAbove(root, bundle);
  if (inherited !== null) {
    manifests.push(inherited);
    seen.add(pluginOf(inherited.path));
  }
  const paths = found.filter((path) => manifestRank(path) !== -1);
  const keys = new Map(paths.map((path) => [path, pluginOf(path)]));
  paths.sort((one, other) =>
    compareText(keys.get(one) as string, keys.get(other) as string) || manifestRank(one) - manifestRank(other)
  );
  for (const path of paths) {
    const plugin = keys.get(path) as string;
    if (seen.has(plugin)) continue;
    seen.add(plugin);
    const manifest = await bundle.read(path);
    if (manifest !== null) manifests.push(manifest);
  }
  return manifests;
}

async function readManifestAbove(root: string, bundle: Bundle): Promise<TextFile | null> {
  const parent = parentUri(root);
  for (const directory of parent === undefined ? [] : selfAndAncestors(parent)) {
    const manifest = await readManifest(directory, bundle);
    if (manifest !== null) return manifest;
  }
  return null;
}

/** The place in the list of manifests, -1 for every other file. */
function manifestRank(path: string): number {
  const names = path.split("/").slice(-2).join("/");
  return MANIFEST_PATHS.findIndex((manifest) => manifest === names);
}

/** The root of the plugin of a manifest. */
export function pluginOf(manifest: string): string {
  return parentUri(parentUri(manifest) as string) as string;
}

async function readPlugin(root: string, manifest: TextFile, bundle: Bundle, files: DiscoveryFiles): Promise<Plugin> {
  await files.pause();
  const { mcpConfig, appsConfig, warnings } = declarations(root, manifest.path, manifest.contents);
  bundle.warnings.push(...warnings);
  return {
    manifest,
    mcpConfig: mcpConfig === null ? null : await bundle.read(mcpConfig),
    appsConfig: appsConfig === null ? null : await bundle.read(appsConfig),
  };
}

async function readSkills(found: readonly string[], bundle: Bundle): Promise<Skill[]> {
  const skills: Skill[] = [];
  const paths = found.filter((path) => baseName(path) === "SKILL.md").sort(compareText);
  for (const path of paths) {
    const instructions = await bundle.read(path);
    if (instructions === null) continue;
    const metadata = await bundle.read(childUri(parentUri(path) as string, "agents/openai.yaml"));
    skills.push({ instructions, metadata });
  }
  return skills;
}

/** URIs are ASCII, so that this is the order of their bytes. */
function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
