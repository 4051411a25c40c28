/** From what a policy says to what it comes to: real paths, each with its access. */

import { join, parent, toText } from "./byte_path.ts";
import { type CanonicalPath, resolve } from "./canonical_path.ts";
import { checkLinks } from "./crossed_links.ts";
import { type FileTree, TreeError } from "./file_tree.ts";
import { findFiles, type Match, patternRefusal, ScanBudget } from "./glob.ts";
import { PatternError } from "./glob_pattern.ts";
import { PlanError } from "./plan_error.ts";
import type { AccessPlan, AccessRule, BytePath, PlanLink, RestrictedFileSystem, SandboxPolicy } from "./policy.ts";
import { protectNames } from "./protections.ts";
import { compare, RuleMap } from "./rule_map.ts";
import { LINUX_RUNTIME } from "./runtime_trees.ts";
import { spelledEntries, type SpelledEntry } from "./spelled_entries.ts";

/** Most entries, counted once for each workspace root that they stand for; each is looked up name by name. */
const MAX_PATHS = 4096;
/** Most names that all patterns may have to be compared with: 6 µs each, 3 s in sum. */
const MAX_SCANNED_NAMES = 500_000;
/** Most files that all patterns may match. */
const MAX_MATCHES = 4096;

/**
 * Looks at the file system once: what changes afterwards changes nothing in the plan. A policy that no sandbox can hold,
 * or that is too large to be looked at, gives a plan with a refusal and without rules.
 *
 * @param runtime What `minimal` stands for.
 */
export function expandPolicy(policy: SandboxPolicy, tree: FileTree, runtime = LINUX_RUNTIME): AccessPlan {
  const steps = expandPolicySteps(policy, tree, runtime);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same in small steps, so that other work can be done between them: patterns may have to look at many files. */
export function* expandPolicySteps(
  policy: SandboxPolicy,
  tree: FileTree,
  runtime = LINUX_RUNTIME,
): Generator<void, AccessPlan, void> {
  const { fileSystem, network } = policy;
  if (fileSystem === "unrestricted" || mayWriteAll(fileSystem)) {
    const rule: AccessRule = { path: "/", access: "write", found: "directory", isProtection: false };
    return { fullRead: true, fullWrite: true, network, rules: [rule], links: [], refusal: undefined };
  }
  const plan = { fullRead: mayReadAll(fileSystem), fullWrite: false, network };
  try {
    return { ...plan, ...yield* rulesOf(fileSystem, tree, runtime), refusal: undefined };
  } catch (error) {
    if (!(error instanceof PlanError || error instanceof TreeError)) throw error;
    return { ...plan, rules: [], links: [], refusal: error.message };
  }
}

/** The special path grants `/`, and no entry takes anything away, not even by being read as a denial. */
function mayReadAll(fileSystem: RestrictedFileSystem): boolean {
  const { entries } = fileSystem;
  return entries.some(({ path }) => path.kind === "root") && entries.every(({ access }) => access !== "deny") &&
    spelledEntries(fileSystem, []).paths.every(({ access }) => access !== "deny");
}

function mayWriteAll({ entries }: RestrictedFileSystem): boolean {
  return entries.some(({ path, access }) => path.kind === "root" && access === "write") &&
    entries.every(({ path, access }) => access === "write" || (access === "read" && path.kind === "root"));
}

interface Spelled extends SpelledEntry {
  readonly to: CanonicalPath;
}

function* rulesOf(
  fileSystem: RestrictedFileSystem,
  tree: FileTree,
  runtime: readonly SpelledEntry[],
): Generator<void, Pick<AccessPlan, "rules" | "links">> {
  const { paths, deniedPatterns } = spelledEntries(fileSystem, runtime);
  if (paths.length + deniedPatterns.length > MAX_PATHS) {
    throw new PlanError(`the sandbox has more than ${MAX_PATHS} entries`);
  }
  const rules = new RuleMap();
  const entries: Spelled[] = paths.map((entry) => ({ ...entry, to: resolve(tree, entry.path) }));
  for (const { access, to: { path, found } } of entries) {
    if (found === "directory" || found === "file") rules.add({ path, access, found, isProtection: false });
  }
  const matches = yield* deniedFiles(deniedPatterns, fileSystem.globScanMaxDepth, tree);
  for (const { path } of matches) rules.add({ path, access: "deny", found: "file", isProtection: false });
  const written = writtenNames(tree, entries, rules);
  protectNames(tree, rules, written);
  for (const { path, access, to } of entries) {
    // A grant for reading takes nothing away where another one for the same path counts.
    const counts = access === "deny" || (access === "read" && (rules.get(to.path)?.access ?? "read") === "read");
    if (counts) checkLinks(rules, path, access, to.links);
  }
  for (const { spelled, links } of matches) checkLinks(rules, spelled, "deny", links);
  for (const entry of entries) preventCreation(rules, entry, written, tree);
  return { rules: rules.finish(), links: grantLinks(entries) };
}

function* deniedFiles(
  patterns: readonly (string | null)[],
  maxDepth: number | null,
  tree: FileTree,
): Generator<void, Match[]> {
  const budget = new ScanBudget(MAX_SCANNED_NAMES, MAX_MATCHES);
  const matches: Match[] = [];
  for (const pattern of patterns) {
    if (pattern === null) throw new PlanError("a relative pattern needs the sandbox's cwd");
    try {
      matches.push(...yield* findFiles(tree, pattern, maxDepth ?? Infinity, budget));
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      throw new PlanError(patternRefusal(pattern, error), { cause: error });
    }
  }
  return matches;
}

/**
 * What entries allow to write, by its real path and by the name that it has where it was looked for. Whoever may make a
 * link must not be able to say by it what was meant: what is missing behind one that may be replaced is not meant.
 */
function writtenNames(tree: FileTree, entries: readonly Spelled[], rules: RuleMap): Set<BytePath> {
  const names = new Set<BytePath>();
  for (const { path, access, to } of entries) {
    const isThere = to.found === "directory" || to.found === "file";
    const isUnsure = !isThere && to.links.some((link) => rules.deciding(link.path)?.access === "write");
    if (access !== "write" || isUnsure) continue;
    names.add(to.path);
    if (to.links.length > 0) names.add(join(resolve(tree, parent(path)).path, path.slice(path.lastIndexOf("/") + 1)));
  }
  return names;
}

/**
 * What is missing has to stay so where it could be made: its first missing name cannot be.
 *
 * @param written See {@linkcode writtenNames}.
 */
function preventCreation(
  rules: RuleMap,
  { path, access, to }: Spelled,
  written: ReadonlySet<BytePath>,
  tree: FileTree,
): void {
  if (access === "write" || to.found === "directory" || to.found === "file") return;
  const above = rules.deciding(to.reached);
  // A protected name is kept from being made already, but may have been meant to be denied.
  if (above?.path === to.path && access === "deny") return rules.add({ ...above, access });
  if (above?.access !== "write") return;
  if (access === "read" && written.has(to.path)) return;
  if (to.found === "unknown") {
    throw new PlanError(`cannot enforce sandbox path ${toText(path)}: it cannot be looked at`);
  }
  if (tree.kindOf(parent(to.reached)) === "file") {
    throw new PlanError(
      `cannot enforce sandbox path ${toText(path)}: ${toText(parent(to.reached))} is not a directory`,
    );
  }
  const itself = to.reached === to.path ? access : "read";
  rules.add({ path: to.reached, access: itself, found: "missing", isProtection: false });
}

function grantLinks(entries: readonly Spelled[]): PlanLink[] {
  const links = new Map<BytePath, PlanLink>();
  for (const { access, to } of entries) {
    if (access === "deny" || (to.found !== "directory" && to.found !== "file")) continue;
    for (const link of to.links) links.set(link.path, link);
  }
  return [...links.values()].sort((a, b) => compare(a.path, b.path));
}
