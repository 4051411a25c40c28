/** Adds what stays as it is in writable directories, see `protected_names.ts`. */

import { isAtOrBelow, join, normalized, toText } from "./byte_path.ts";
import { resolve } from "./canonical_path.ts";
import { checkLinks } from "./crossed_links.ts";
import type { FileTree } from "./file_tree.ts";
import { PlanError } from "./plan_error.ts";
import type { AccessRule, BytePath } from "./policy.ts";
import { gitDirectory, PROTECTED_NAMES } from "./protected_names.ts";
import type { RuleMap } from "./rule_map.ts";

/**
 * @param rules Those of the entries; only `/` protects nothing.
 * @param named Paths that entries grant for writing, existing or not: these are not protected.
 * @throws {PlanError} If a protected name cannot be protected, since it is a link that could be replaced.
 * @throws {TreeError} If a `.git` file cannot be read.
 */
export function protectNames(tree: FileTree, rules: RuleMap, named: ReadonlySet<BytePath>): void {
  for (const root of rules.writable()) {
    if (root.found !== "directory" || root.path === "/") continue;
    for (const name of PROTECTED_NAMES) protect(tree, rules, named, root, name);
  }
}

function protect(tree: FileTree, rules: RuleMap, named: ReadonlySet<BytePath>, root: AccessRule, name: string): void {
  const path = join(root.path, name);
  const kind = tree.kindOf(path);
  if (!named.has(path)) {
    if (kind === "link") checkLinks(rules, path, "read", [{ path, target: "" }]);
    if (kind === "link" || kind === "unknown") {
      throw new PlanError(`cannot enforce sandbox read-only path ${toText(path)}: it cannot be looked at`);
    }
    rules.add({ path, access: "read", found: kind, isProtection: true });
  }
  if (name === ".git" && kind === "file") protectRepository(tree, rules, named, root.path);
}

function protectRepository(tree: FileTree, rules: RuleMap, named: ReadonlySet<BytePath>, root: BytePath): void {
  const spelled = gitDirectory(tree, root);
  if (spelled === undefined) return;
  const { path, found, links } = resolve(tree, spelled);
  if (found === "missing" || found === "unknown" || named.has(path)) return;
  const leadsInside = isAtOrBelow(path, root) && path !== root;
  // A link in the directory could be made to lead anywhere.
  if (leadsInside || isAtOrBelow(normalized(spelled), root)) checkLinks(rules, spelled, "read", links);
  if (leadsInside) rules.add({ path, access: "read", found, isProtection: true });
}
