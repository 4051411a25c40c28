import type { DiscoveryFiles } from "../files.ts";
import { type Plugin, pluginOf as pluginRootOf, type RootDiscovery, type Skill } from "../roots/discover_root.ts";
import { manifestName, readManifestHeader } from "../roots/manifest.ts";
import { baseName, parentUri, selfAndAncestors } from "../uris.ts";
import { type FrontMatter, readFrontMatter } from "./front_matter.ts";
import type { InstalledPlugin } from "./locations.ts";
import { NO_METADATA, readSkillMetadata, type SkillMetadata } from "./skill_metadata.ts";
import { lengthOf, singleLine, trimmed } from "./text.ts";
import { YamlError } from "./yaml.ts";

export interface ExecutorSkill extends SkillMetadata {
  /** With the name of the plugin before it, and a colon between them, if it is below one. */
  readonly name: string;
  readonly description: string;
  readonly shortDescription: string | null;
  /** Its `SKILL.md`. */
  readonly path: string;
  /** Where it was found; null for the skills of a plugin. */
  readonly discoveryRoot: { readonly id: string; readonly path: string } | null;
}

export interface ExecutorPlugin extends InstalledPlugin {
  readonly displayName: string;
  readonly root: string;
  readonly files: Plugin;
  readonly skills: readonly ExecutorSkill[];
}

/** In characters: a name of a plugin, a colon and a name of a skill. Source: as the reference. */
const MAX_QUALIFIED_NAME_LENGTH = 64 + 1 + 64;

/** The skills that say what they are. */
export async function skillsOf(
  discovery: RootDiscovery,
  files: DiscoveryFiles,
): Promise<{ readonly skills: ExecutorSkill[]; readonly incomplete: boolean }> {
  const namespaces = new Map<string, string>();
  for (const { path, contents } of discovery.namespaceManifests) {
    await files.pause();
    const root = pluginRootOf(path);
    const name = manifestName(contents);
    const shown = name !== undefined && trimmed(name) === "" ? baseName(root) : name;
    if (shown !== undefined && !namespaces.has(root)) namespaces.set(root, shown);
  }
  const skills: ExecutorSkill[] = [];
  for (const found of discovery.skills) {
    await files.pause();
    const skill = skillOf(found, namespaces);
    if (skill !== undefined) skills.push(skill);
  }
  return { skills, incomplete: skills.length < discovery.skills.length };
}

function skillOf(
  { instructions: { path, contents }, metadata }: Skill,
  namespaces: ReadonlyMap<string, string>,
): ExecutorSkill | undefined {
  const directory = parentUri(path) as string;
  let frontMatter: FrontMatter;
  try {
    frontMatter = readFrontMatter(contents, singleLine(baseName(directory) ?? "") || "skill");
  } catch (error) {
    if (error instanceof YamlError) return undefined;
    throw error;
  }
  const plugin = selfAndAncestors(directory).find((ancestor) => namespaces.has(ancestor));
  const namespace = plugin === undefined ? "" : `${namespaces.get(plugin)}:`;
  const name = `${namespace}${frontMatter.name}`;
  if (lengthOf(name) > MAX_QUALIFIED_NAME_LENGTH) return undefined;
  const { dependencies, policy } = metadata === null ? NO_METADATA : readSkillMetadata(metadata.contents);
  return { ...frontMatter, name, path, discoveryRoot: null, dependencies, policy };
}

/** Undefined if it has no manifest that can be used. */
export function pluginOf(
  installed: InstalledPlugin,
  root: string,
  files: Plugin | null,
  skills: readonly ExecutorSkill[],
): ExecutorPlugin | undefined {
  const header = files === null ? undefined : readManifestHeader(files.manifest.contents);
  if (files === null || header === undefined) return undefined;
  const name = trimmed(header.name) === "" ? baseName(root) ?? "" : header.name;
  const displayName = trimmed(header.displayName ?? "") || name;
  const { manifest: { path }, mcpConfig } = files;
  const servers = header.inlineServers === null ? mcpConfig : { path, contents: header.inlineServers };
  return { ...installed, displayName, root, files: { ...files, mcpConfig: servers }, skills };
}
