/** `capabilities/discoverV2`: the plugins and skills that are installed for this user, whatever is enabled of them. */

import type { DiscoveryFiles, Metadata } from "../files.ts";
import { codexHomeUri, type DiscoveryHost, userHomeUri } from "../host.ts";
import { inOrder } from "../in_order.ts";
import { discoverRoot } from "../roots/discover_root.ts";
import { childUri, uriOfPath } from "../uris.ts";
import { ResponseBudget } from "./budget.ts";
import { type ExecutorPlugin, type ExecutorSkill, pluginOf, skillsOf } from "./capabilities.ts";
import { installedLocations, type Location, type Locations } from "./locations.ts";

export interface InstalledCapabilities {
  /** By id. */
  readonly plugins: readonly ExecutorPlugin[];
  /** Those outside of plugins, in the order of their directories. */
  readonly skills: readonly ExecutorSkill[];
  /** Without the name of any file. */
  readonly warnings: readonly string[];
}

const LOCATIONS_INCOMPLETE = "some capability locations could not be resolved; discovery may be incomplete";
const METADATA_INCOMPLETE = "some capability metadata could not be loaded; discovery may be incomplete";

/** Directories that are looked at side by side. */
const LOCATIONS_AT_ONCE = 8;

/**
 * @throws {ExecError} If one of the directories can neither be looked at nor is missing.
 */
export async function findInstalled(host: DiscoveryHost, files: DiscoveryFiles): Promise<Locations> {
  const codexHome = await codexHomeUri(host, files);
  const userHome = userHomeUri(host);
  const skillRoots = new Map([["codex-home-skills", childUri(codexHome, "skills")]]);
  if (userHome !== null) skillRoots.set("user-agent-skills", childUri(userHome, ".agents/skills"));
  skillRoots.set("system-skills", childUri(uriOfPath(host.systemConfigDir), "skills"));
  return await installedLocations(files, childUri(codexHome, "plugins/cache"), skillRoots);
}

export async function discoverInstalled(
  { locations, incomplete }: Locations,
  files: DiscoveryFiles,
): Promise<InstalledCapabilities> {
  const response = {
    plugins: [] as ExecutorPlugin[],
    skills: [] as ExecutorSkill[],
    warnings: incomplete ? [LOCATIONS_INCOMPLETE] : [],
  };
  const budget = new ResponseBudget();
  let left = locations.length;
  for await (const found of inOrder(locations, LOCATIONS_AT_ONCE, (location) => discoverLocation(location, files))) {
    left--;
    await files.pause();
    if (found.incomplete) response.warnings.push(METADATA_INCOMPLETE);
    const plugin = found.plugin === undefined ? undefined : budget.admitPlugin(found.plugin);
    if (plugin !== undefined) response.plugins.push(plugin);
    for (const skill of found.skills) {
      if (budget.admitSkill(skill)) response.skills.push(skill);
    }
    if (budget.isSpent && left > 0) {
      budget.truncate();
      break;
    }
  }
  response.plugins.sort((one, other) => one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
  budget.trim(response);
  return response;
}

interface LocationContent {
  readonly plugin?: ExecutorPlugin;
  readonly skills: readonly ExecutorSkill[];
  /** Whether something could not be read. */
  readonly incomplete: boolean;
}

async function discoverLocation(location: Location, files: DiscoveryFiles): Promise<LocationContent> {
  const metadata: Metadata | undefined = await files.metadataIfVisible(location.root);
  if (!metadata?.isDirectory) return { skills: [], incomplete: false };
  const discovery = await discoverRoot(location.root, files);
  let incomplete = discovery.warnings.length > 0 || discovery.error !== null;
  const { skills, incomplete: someBroken } = await skillsOf(discovery, files);
  incomplete ||= someBroken;
  if (typeof location.content === "string") {
    const discoveryRoot = { id: location.content, path: location.root };
    return { skills: skills.map((skill) => ({ ...skill, discoveryRoot })), incomplete };
  }
  await files.pause();
  const plugin = pluginOf(location.content, location.root, discovery.plugin, skills);
  return plugin === undefined ? { skills: [], incomplete: true } : { plugin, skills: [], incomplete };
}
