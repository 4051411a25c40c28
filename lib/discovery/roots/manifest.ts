import { childUri, isWithin, uriOfPath } from "../uris.ts";
import { MANIFEST_MEMBERS, membersOf, memberText, readMembers, wellFormed } from "./manifest_json.ts";

/** What a plugin's manifest names besides itself; URIs below the root of the plugin. */
export interface Declarations {
  /** The file with the MCP servers; null if the manifest has them in itself. */
  readonly mcpConfig: string | null;
  readonly appsConfig: string | null;
  /** Why something was ignored. */
  readonly warnings: readonly string[];
}

/** Where manifests are below the root of a plugin; the first that can be read counts. */
export const MANIFEST_PATHS = [
  ".codex-plugin/plugin.json",
  ".claude-plugin/plugin.json",
  ".cursor-plugin/plugin.json",
] as const;

const DEFAULT_MCP_CONFIG = ".mcp.json";

/**
 * @param root The root of the plugin.
 * @param manifest Its manifest.
 * @param contents What is in it; if that is no JSON object, it names nothing.
 */
export function declarations(root: string, manifest: string, contents: string): Declarations {
  const members = readMembers(contents, ["mcpServers", "apps"]);
  const warnings: string[] = [];
  const declared = (field: "mcpServers" | "apps"): string | undefined => {
    const value = members?.[field];
    if (typeof value !== "string") return undefined;
    const file = fileBelow(root, value);
    if ("uri" in file) return file.uri;
    warnings.push(`ignoring ${field} in ${manifest}: ${file.defect}`);
    return undefined;
  };
  const mcpConfig = isObject(members?.["mcpServers"])
    ? null
    : declared("mcpServers") ?? childUri(root, DEFAULT_MCP_CONFIG);
  return { mcpConfig, appsConfig: declared("apps") ?? null, warnings };
}

function fileBelow(root: string, path: string): { readonly uri: string } | { readonly defect: string } {
  if (!path.startsWith("./")) return { defect: "path must start with `./`" };
  const relative = path.slice("./".length);
  const uri = uriOfPath(relative, root);
  const leaves = relative === "" || relative.includes("\0") || relative.split(/[/\\]/).includes("..") ||
    !isWithin(uri, root);
  return leaves ? { defect: "path must remain below the capability root" } : { uri };
}

/** What a manifest says about its plugin. */
export interface ManifestHeader {
  /** As it is written; empty if it is not. */
  readonly name: string;
  readonly displayName: string | null;
  /** The MCP servers that are in the manifest itself, as JSON. */
  readonly inlineServers: string | null;
}

/** Undefined if the manifest is not what a manifest should be. */
export function readManifestHeader(contents: string): ManifestHeader | undefined {
  const members = readMembers(contents, MANIFEST_MEMBERS, ["interface", "displayName"]);
  const name = members && nameOf(members);
  if (name === undefined) return undefined;
  const { interface: presentation = null, mcpServers, apps } = members as Readonly<Record<string, unknown>>;
  const shown = presentation === null ? {} : membersOf(presentation, ["displayName"]);
  const displayName = optionalText(shown?.["displayName"]);
  if (shown === undefined || displayName === undefined || optionalText(apps) === undefined) return undefined;
  return { name, displayName, inlineServers: isObject(mcpServers) ? memberText(contents, "mcpServers") : null };
}

/** The name by which a manifest calls what is below its plugin; undefined if it cannot be read. */
export function manifestName(contents: string): string | undefined {
  const members = readMembers(contents, ["name"]);
  return members && nameOf(members);
}

/** Undefined for what is neither a text nor nothing. */
function optionalText(value: unknown): string | null | undefined {
  return value === undefined || value === null ? null : wellFormed(value);
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function nameOf({ name = "" }: Readonly<Record<string, unknown>>): string | undefined {
  return wellFormed(name);
}
