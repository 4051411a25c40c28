/** Random trees with what sandboxes look at: protected names of every kind, links, and nothing that modes forbid. */
import fc from "fast-check";
import type { BytePath } from "../fs/posix.ts";
import { type Entry, TREE } from "../fs/tree.ts";

const NAMES = ["a", "b", "c", "x.env"];
const PROTECTED = [".git", ".git", ".codex", ".agents", ".aws"];

export const names: fc.Arbitrary<BytePath> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...NAMES) },
  { weight: 1, arbitrary: fc.constantFrom(...PROTECTED) },
);

type Kind = "directory" | "file" | "link" | "pointer" | "hard link";
const kinds = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Kind>("directory") },
  { weight: 8, arbitrary: fc.constant<Kind>("file") },
  { weight: 3, arbitrary: fc.constant<Kind>("link") },
  { weight: 1, arbitrary: fc.constant<Kind>("hard link") },
  { weight: 1, arbitrary: fc.constant<Kind>("pointer") },
);

const placed = fc.record({ parent: fc.nat(30), name: names, kind: kinds, target: fc.nat(30) });

export const trees: fc.Arbitrary<readonly Entry[]> = fc.array(placed, { minLength: 3, maxLength: 18, size: "max" }).map(
  (list) => {
    const directories: BytePath[] = [""];
    const paths = list.map(({ parent, name, kind }) => {
      const above = directories[parent % directories.length]!;
      const path = above === "" ? name : `${above}/${name}`;
      if (kind === "directory") directories.push(path);
      return path;
    });
    // Links in what a `.git` file points to cannot be replaced; the reference refuses them all the same.
    const hasPointer = list.some(({ kind }) => kind === "pointer");
    return list.map(({ kind, target }, index) => {
      const [path, to] = [paths[index]!, paths[target % paths.length]!];
      // The same is true of one in what is denied by its own name.
      const isLeftOut = kind === "link" && (hasPointer || path.startsWith(`${to}/`));
      return entryOf(path, isLeftOut ? "file" : kind, to);
    });
  },
);

function entryOf(path: BytePath, kind: Kind, target: BytePath): Entry {
  const time = [1_000_000_000, 0] as const;
  switch (kind) {
    case "directory":
      return { path, kind, mode: 0o755, time };
    case "file":
      return { path, kind, size: 10, mode: 0o644, time };
    case "hard link":
      return { path, kind, to: target };
    // Absolute, so that it leads to the same place wherever it is moved to.
    case "link":
      return { path, kind, to: `${TREE}/${target}`, time };
    // As the `.git` of a working tree that git has beside the repository.
    case "pointer":
      return { path: path.replace(/[^/]*$/, ".git"), kind: "text", text: `gitdir: ${TREE}/${target}\n` };
  }
}

/** Paths of a tree, and of what is not there. */
export function pathsOf(tree: readonly Entry[]): fc.Arbitrary<BytePath> {
  const there = fc.constantFrom("", ...tree.map(({ path }) => path));
  const below = (above: fc.Arbitrary<BytePath>) =>
    fc.tuple(above, names).map(([above, name]) => above === "" ? name : `${above}/${name}`);
  return fc.oneof(
    { weight: 8, arbitrary: there },
    { weight: 4, arbitrary: below(there) },
    { weight: 1, arbitrary: below(below(there)) },
    // In what programs have as TMPDIR; the reference keeps things of its own there.
    { weight: 1, arbitrary: fc.constantFrom("../sub/a", "../sub/b") },
  );
}
