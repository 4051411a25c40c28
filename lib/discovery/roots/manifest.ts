import { childUri, isWithin, uriOfPath } from "../uris.ts";

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
  const members = parseMembers(contents);
  const warnings: string[] = [];
  const declared = (field: "mcpServers" | "apps"): string | undefined => {
    const value = members?.[field];
    if (typeof value !== "string") return undefined;
    const file = fileBelow(root, value);
    if ("uri" in file) return file.uri;
    warnings.push(`ignoring ${field} in ${manifest}: ${file.defect}`);
    return undefined;
  };
  const isInline = typeof members?.mcpServers === "object" && members.mcpServers !== null &&
    !Array.isArray(members.mcpServers);
  const mcpConfig = isInline ? null : declared("mcpServers") ?? childUri(root, DEFAULT_MCP_CONFIG);
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

interface Members {
  readonly mcpServers?: unknown;
  readonly apps?: unknown;
}

/** Undefined if it is no JSON object, or says one of the two more than once. */
function parseMembers(contents: string): Members | undefined {
  let json: unknown;
  try {
    json = JSON.parse(contents);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (typeof json !== "object" || json === null || Array.isArray(json)) return undefined;
  const keys = topLevelKeys(contents);
  const repeated = ["mcpServers", "apps"].some((name) => keys.filter((key) => key === name).length > 1);
  return repeated ? undefined : json;
}

/** The keys of a JSON object in the order of the text, repeated ones as often as they are there. */
function topLevelKeys(object: string): string[] {
  const keys: string[] = [];
  let depth = 0;
  let last = "";
  for (const [token] of object.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    else if (token === ":" && depth === 1) keys.push(JSON.parse(last));
    else last = token;
  }
  return keys;
}
