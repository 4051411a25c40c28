/** Random sandboxes over the paths of a tree, as the wire has them. */
import fc from "fast-check";
import type { BytePath } from "../fs/posix.ts";
import { plainUri } from "../fs/random_uri.ts";
import { TREE } from "../fs/tree.ts";

/** A sandbox in pieces that can be left out one by one. */
export interface Policy {
  /** As JSON, with {@linkcode TREE} for the tree. */
  readonly entries: readonly string[];
  /** All of `sandbox` but the entries, as JSON in which `<entries>` stands for them. */
  readonly around: string;
}

/** The parameter `sandbox`, as JSON. */
export function sandboxOf({ entries, around }: Policy): string {
  return around.replace("<entries>", () => entries.join());
}

const special = (kind: string, access: string) =>
  JSON.stringify({ path: { type: "special", value: { kind } }, access });

/** What nearly every policy begins with: without it no program can be run. */
const BASES: readonly (readonly string[])[] = [
  [special("root", "read")],
  [special("root", "read")],
  [special("root", "read")],
  [special("minimal", "read")],
  [special("minimal", "read")],
  [special("root", "write")],
  [],
];

const access = fc.constantFrom("write", "write", "write", "read", "read", "deny", "deny", "none");

function entriesOn(paths: fc.Arbitrary<BytePath>): fc.Arbitrary<string> {
  const uri = paths.map((path) => plainUri(path));
  const path = fc.tuple(uri, access, fc.constantFrom(false, false, false, true)).map(([path, access, skip]) =>
    JSON.stringify({ path: { type: "path", path }, access, ...(skip ? { missing_path_behavior: "skip" } : {}) })
  );
  const pattern = fc.oneof(
    fc.tuple(paths, fc.constantFrom("*", "**/a", "**/*.env", "{a,b}", "?", ".g*", "a/**", "*/b", "[a-b]", "["))
      .map(([path, rest]) => `${path === "" ? TREE : `${TREE}/${path}`}/${rest}`),
    fc.constantFrom("a", "*", "**/*.env", "b/*"),
  );
  const glob = fc.tuple(pattern, fc.constantFrom("deny", "deny", "deny", "read", "write")).map(([pattern, access]) =>
    JSON.stringify({ path: { type: "glob_pattern", pattern }, access })
  );
  // None that leads out of the root: with one the reference denies its programs the root, but not its file methods.
  const subpath = fc.constantFrom(undefined, undefined, ".git", "a", "a/b");
  const projectRoots = fc.tuple(subpath, access).map(([subpath, access]) =>
    JSON.stringify({ path: { type: "special", value: { kind: "project_roots", subpath } }, access })
  );
  const other = fc.tuple(fc.constantFrom("tmpdir", "current_working_directory"), access).map(([kind, access]) =>
    special(kind, access)
  );
  return fc.oneof(
    { weight: 10, arbitrary: path },
    { weight: 2, arbitrary: glob },
    { weight: 3, arbitrary: projectRoots },
    { weight: 1, arbitrary: other },
  );
}

const NETWORKS = ["restricted", "restricted", "restricted", "enabled"] as const;

/** What is around the entries: mostly a file system that is restricted. */
function aroundOn(paths: fc.Arbitrary<BytePath>): fc.Arbitrary<string> {
  const uri = paths.map((path) => plainUri(path));
  const managed = fc.record({
    network: fc.constantFrom(...NETWORKS),
    depth: fc.constantFrom(undefined, undefined, undefined, null, 1, 2),
  }).map(({ network, depth }) => ({
    type: "managed",
    file_system: { type: "restricted", entries: "<entries>", glob_scan_max_depth: depth },
    network,
  }));
  const permissions = fc.oneof(
    { weight: 30, arbitrary: managed },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...NETWORKS).map((network) => ({
        type: "managed",
        file_system: { type: "unrestricted" },
        network,
      })),
    },
    { weight: 1, arbitrary: fc.constantFrom(...NETWORKS).map((network) => ({ type: "external", network })) },
    { weight: 1, arbitrary: fc.constant({ type: "disabled" }) },
  );
  const roots = fc.array(uri, { maxLength: 2 });
  const tree = fc.constant(TREE_URI);
  return fc.record({
    permissions,
    cwd: fc.oneof({ weight: 6, arbitrary: tree }, { weight: 2, arbitrary: uri }, {
      weight: 1,
      arbitrary: fc.constant(undefined),
    }),
    workspaceRoots: fc.oneof({ weight: 3, arbitrary: tree.map((uri) => [uri]) }, { weight: 2, arbitrary: roots }),
    policyContext: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(undefined, null) },
      { weight: 1, arbitrary: fc.record({ cwd: uri, workspaceRoots: roots }, { requiredKeys: [] }) },
    ),
    sandboxOverride: fc.constantFrom(undefined, undefined, "noOverride", "bypassSandboxFirstAttempt"),
    windowsSandboxLevel: fc.constant("disabled"),
  }).map((sandbox) => JSON.stringify(sandbox).replace('"<entries>"', "[<entries>]"));
}

const TREE_URI = plainUri("");

export function policiesOn(paths: fc.Arbitrary<BytePath>): fc.Arbitrary<Policy> {
  return fc.record({
    base: fc.constantFrom(...BASES),
    entries: fc.array(entriesOn(paths), { minLength: 0, maxLength: 6, size: "max" }),
    around: aroundOn(paths),
  }).map(({ base, entries, around }) => ({ entries: [...base, ...entries], around }));
}
