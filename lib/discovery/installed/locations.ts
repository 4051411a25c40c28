import { ExecError } from "../../errors.ts";
import { JsonNumber, JsonSyntaxError, parseJson } from "../../json.ts";
import { type DiscoveryFiles, fileErrorText, isNotFound, type WalkOptions } from "../files.ts";
import { decodeUtf8 } from "../text_file.ts";
import { baseName, childUri } from "../uris.ts";
import { activeVersion } from "./plugin_version.ts";
import { trimmed } from "./text.ts";

/** A directory in which something is installed. */
export interface Location {
  /** As a URI. */
  readonly root: string;
  /** What is installed there; a string: the kind of a directory of skills. */
  readonly content: InstalledPlugin | string;
}

export interface InstalledPlugin {
  /** `NAME@MARKETPLACE`. */
  readonly id: string;
  readonly version: string;
  readonly remotePluginId: string | null;
}

export interface Locations {
  readonly locations: readonly Location[];
  /** Whether something was left out or could not be read. */
  readonly incomplete: boolean;
}

/** Source of these numbers: as the reference. */
const MAX_LOCATIONS = 512;
const MAX_INSTALL_RECORD_BYTES = 16_384;
const MAX_REMOTE_ID_BYTES = 1024;

const PACKAGES: WalkOptions = {
  maxDepth: 1,
  maxDirectories: 2_000,
  maxEntries: 20_000,
  followDirectorySymlinks: true,
  pruneHiddenDirectories: false,
};
/** The directories of a package, not those that a symlink leads to. */
const VERSIONS: WalkOptions = { ...PACKAGES, maxDepth: 0, followDirectorySymlinks: false };

const INSTALL_RECORD = ".codex-remote-plugin-install.json";

/**
 * Where plugins and skills are installed, plugins first. Directories that are not there are left out.
 *
 * @param skillRoots By kind; of equal ones the first counts.
 * @throws {ExecError} If one of the directories can neither be looked at nor is missing.
 */
export async function installedLocations(
  files: DiscoveryFiles,
  pluginCache: string,
  skillRoots: ReadonlyMap<string, string>,
): Promise<Locations> {
  const hasCache = await isDirectory(files, pluginCache);
  const kinds = new Map<string, string>();
  for (const [kind, root] of skillRoots) {
    const isThere = await isDirectory(files, root);
    if (isThere && !kinds.has(root)) kinds.set(root, kind);
  }
  const plugins = hasCache ? await cachedPlugins(files, pluginCache) : { locations: [], incomplete: false };
  const skills = [...kinds].map(([root, kind]): Location => ({ root, content: kind }));
  const locations = [...plugins.locations, ...skills];
  return {
    locations: locations.slice(0, MAX_LOCATIONS),
    incomplete: plugins.incomplete || locations.length > MAX_LOCATIONS,
  };
}

async function isDirectory(files: DiscoveryFiles, uri: string): Promise<boolean> {
  try {
    return (await files.metadata(uri)).isDirectory;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw new ExecError("internal", fileErrorText(error), { cause: error });
  }
}

async function cachedPlugins(files: DiscoveryFiles, cache: string): Promise<Locations> {
  const { entries, errors, truncated } = await files.walk(cache, PACKAGES);
  const [error] = errors;
  if (error !== undefined) {
    throw new ExecError("internal", `failed to scan plugin cache path ${error.path}: ${error.message}`);
  }
  const packages = new Map<string, string>();
  for (const { path, kind } of entries) {
    const match = /^\/?([\w-]+)\/([\w-]+)$/.exec(path.slice(cache.length));
    if (kind === "directory" && match !== null) packages.set(`${match[2]}@${match[1]}`, path);
  }
  const locations: Location[] = [];
  let incomplete = truncated;
  for (const [id, root] of [...packages].sort(([one], [other]) => one < other ? -1 : 1)) {
    const version = await installedVersion(files, root);
    if (version === undefined) continue;
    if (locations.length === MAX_LOCATIONS) return { locations, incomplete: true };
    const remotePluginId = await readInstallRecord(files, childUri(root, INSTALL_RECORD));
    incomplete ||= remotePluginId === undefined;
    locations.push({ root: childUri(root, version), content: { id, version, remotePluginId: remotePluginId ?? null } });
  }
  return { locations, incomplete };
}

/** Undefined if there is none, or it cannot be seen. */
async function installedVersion(files: DiscoveryFiles, root: string): Promise<string | undefined> {
  try {
    const { entries } = await files.walk(await files.canonical(root), VERSIONS);
    const directories = entries.filter(({ kind }) => kind === "directory");
    return activeVersion(directories.map(({ path }) => baseName(path) as string));
  } catch (error) {
    fileErrorText(error);
    return undefined;
  }
}

/** The plugin's name where it came from; null if it came from nowhere, undefined if the record cannot be used. */
async function readInstallRecord(files: DiscoveryFiles, uri: string): Promise<string | null | undefined> {
  let bytes: Uint8Array<ArrayBuffer> | undefined;
  try {
    bytes = await files.read(uri, MAX_INSTALL_RECORD_BYTES);
  } catch (error) {
    fileErrorText(error);
    return isNotFound(error) ? null : undefined;
  }
  const decoded = bytes === undefined ? undefined : decodeUtf8(bytes);
  const id = decoded !== undefined && "text" in decoded ? remoteId(decoded.text) : "";
  return id === "" || new TextEncoder().encode(id).length > MAX_REMOTE_ID_BYTES ? undefined : id;
}

/** Empty if it does not say it. */
function remoteId(record: string): string {
  try {
    const json = parseJson(record);
    if (!(json instanceof Map)) return "";
    const version = json.get("schema_version");
    const id = json.get("remote_plugin_id");
    // The format as an integer: 1.0 is something else.
    return version instanceof JsonNumber && version.text === "1" && typeof id === "string" ? trimmed(id) : "";
  } catch (error) {
    if (error instanceof JsonSyntaxError) return "";
    throw error;
  }
}
