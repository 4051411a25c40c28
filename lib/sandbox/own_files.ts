/** What the server itself is made of: whoever could write there would run outside of his sandbox the next time. */

import { fromText, isAtOrBelow } from "./byte_path.ts";
import { decidingRule } from "./access.ts";
import { resolve } from "./canonical_path.ts";
import type { FileTree } from "./file_tree.ts";
import type { LauncherHost } from "./launcher_command.ts";
import type { AccessPlan, AccessRule, BytePath } from "./policy.ts";
import { compare } from "./rule_map.ts";

export interface OwnFile {
  readonly path: BytePath;
  readonly found: "directory" | "file";
}

/** Where the runtime keeps what it has compiled, as `deno` finds it; by default on Linux and on macOS. */
function cacheDirectories(variable: LauncherHost["variable"], usualHome: string | undefined): string[] {
  const own = variable("DENO_DIR");
  if (own) return [own];
  const [shared, home] = [variable("XDG_CACHE_HOME"), variable("HOME") || usualHome];
  const usual = shared ? [`${shared}/deno`] : home ? [`${home}/.cache/deno`] : [];
  return home ? [...usual, `${home}/Library/Caches/deno`] : usual;
}

/**
 * @param module The address of any of our modules, in `lib/sandbox`.
 * @param usualHome Where the user's home is if no variable says it.
 */
export function ownFiles(host: LauncherHost, module: string, tree: FileTree, usualHome?: string): OwnFile[] {
  const paths = [fromText(host.program)];
  if (!host.isCompiled) {
    paths.push(...cacheDirectories(host.variable, usualHome).filter((path) => path.startsWith("/")).map(fromText));
    const sources = new URL("..", module);
    if (sources.protocol === "file:") paths.push(fromText(decodeURIComponent(sources.pathname)));
  }
  return paths.flatMap((path) => existing(tree, path));
}

/** What is really meant by a path, if it is there. */
export function existing(tree: FileTree, path: BytePath): OwnFile[] {
  const { path: real, found } = resolve(tree, path);
  return found === "directory" || found === "file" ? [{ path: real, found }] : [];
}

/** The plan with none of these files to be written; the plan itself if it did not let them be. */
export function keepFromWriting(plan: AccessPlan, files: readonly OwnFile[]): AccessPlan {
  if (plan.fullWrite || plan.refusal !== undefined) return plan;
  const isOurs = ({ path, access }: AccessRule) =>
    access === "write" && files.some((file) => isAtOrBelow(path, file.path));
  const added = files.filter(({ path }) => decidingRule(plan, path)?.access === "write");
  if (added.length === 0 && !plan.rules.some(isOurs)) return plan;
  const rules = new Map(plan.rules.map((rule) => [rule.path, isOurs(rule) ? readable(rule) : rule]));
  for (const file of added) rules.set(file.path, { isProtection: false, ...file, access: "read" });
  return { ...plan, rules: [...rules.values()].sort((one, other) => compare(one.path, other.path)) };
}

function readable(rule: AccessRule): AccessRule {
  return { ...rule, access: "read" };
}
