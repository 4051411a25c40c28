import type { DiscoveryFiles } from "../files.ts";
import { isTable, type TomlLiteral, type TomlTable, type TomlValue } from "../../toml/value.ts";
import { childUri, displayPath, isWithin } from "../uris.ts";
import { ConfigError } from "./config_file.ts";
import { type GitCheckout, gitCheckout } from "./git_checkout.ts";

/** Which directories the user trusts: the `projects` of the configuration. */
export class ProjectTrust {
  readonly #files: DiscoveryFiles;
  /** Native paths as the user wrote them. */
  readonly #levels: ReadonlyMap<string, boolean>;
  readonly #checkout: GitCheckout;
  /** What else decides where a directory has no entry of its own. */
  readonly #fallbackKeys: readonly string[];

  private constructor(
    files: DiscoveryFiles,
    levels: ReadonlyMap<string, boolean>,
    checkout: GitCheckout,
    fallbackKeys: readonly string[],
  ) {
    this.#files = files;
    this.#levels = levels;
    this.#checkout = checkout;
    this.#fallbackKeys = fallbackKeys;
  }

  /**
   * @param root The root of the project, as a URI.
   * @throws {ConfigError} If `projects` is not what it should be.
   */
  static async load(
    files: DiscoveryFiles,
    effective: TomlTable,
    root: string,
    cwd: string,
  ): Promise<ProjectTrust> {
    const levels = trustLevels(effective.get("projects"));
    const checkout = await gitCheckout(files, cwd);
    const keys = await lookupKeys(files, root);
    if (checkout.mainRoot !== undefined) keys.push(...await lookupKeys(files, checkout.mainRoot));
    return new ProjectTrust(files, levels, checkout, keys);
  }

  async trusts(directory: string): Promise<boolean> {
    for (const key of [...await lookupKeys(this.#files, directory), ...this.#fallbackKeys]) {
      const level = this.#levels.get(key);
      if (level !== undefined) return level;
    }
    return false;
  }

  /**
   * In a linked worktree the hooks are those of the main checkout: its `.codex` directory for that directory. Undefined
   * elsewhere.
   */
  hooksFolderOf(directory: string): string | undefined {
    const { root, mainRoot } = this.#checkout;
    if (root === undefined || mainRoot === undefined || root === mainRoot) return undefined;
    return isWithin(directory, root) ? childUri(`${mainRoot}${directory.slice(root.length)}`, ".codex") : undefined;
  }
}

/** The path without symlinks, and as it is. */
async function lookupKeys(files: DiscoveryFiles, directory: string): Promise<string[]> {
  const canonical = await files.canonicalOrSame(directory);
  const keys = [displayPath(canonical), displayPath(directory)];
  return keys[0] === keys[1] ? [keys[0] as string] : keys;
}

function trustLevels(projects: TomlValue | undefined): ReadonlyMap<string, boolean> {
  const levels = new Map<string, boolean>();
  if (projects === undefined) return levels;
  if (!isTable(projects)) throw refused(`invalid type: ${described(projects)}, expected a map`, "projects");
  for (const [path, project] of projects) {
    const key = `projects.${path}`;
    if (!isTable(project)) throw refused(`invalid type: ${described(project)}, expected struct ProjectConfig`, key);
    const level = project.get("trust_level");
    if (level === undefined) continue;
    const levelKey = `${key}.trust_level`;
    if (typeof level !== "string") throw refused("invalid type: unit variant, expected string only", levelKey);
    if (level !== "trusted" && level !== "untrusted") {
      throw refused(`unknown variant \`${level}\`, expected \`trusted\` or \`untrusted\``, levelKey);
    }
    levels.set(path, level === "trusted");
  }
  return levels;
}

function described(value: TomlValue): string {
  if (typeof value === "string") return `string ${JSON.stringify(value)}`;
  if (Array.isArray(value)) return "sequence";
  const { kind, text } = value as TomlLiteral;
  return kind === "float" ? `floating point \`${text}\`` : kind === "datetime" ? "map" : `${kind} \`${text}\``;
}

function refused(reason: string, key: string): ConfigError {
  return new ConfigError(`${reason}\nin \`${key}\`\n`);
}
