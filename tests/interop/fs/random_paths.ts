/** Random paths of a tree. */
import fc from "fast-check";
import type { BytePath } from "./posix.ts";
import { names } from "./random_tree.ts";
import { plainUri } from "./random_uri.ts";
import type { Entry } from "./tree.ts";

/** Paths of a tree by what they were at the beginning. */
export interface Paths {
  readonly file: fc.Arbitrary<BytePath>;
  /** Files at the beginning, but for a few. */
  readonly existing: fc.Arbitrary<BytePath>;
  readonly directory: fc.Arbitrary<BytePath>;
  /** A name in a directory, mostly a new one. */
  readonly place: fc.Arbitrary<BytePath>;
  /** Entries, and what is below or beside them. */
  readonly any: fc.Arbitrary<BytePath>;
}

export function pathsOf(tree: readonly Entry[]): Paths {
  const oneOf = (...kinds: readonly Entry["kind"][]) => {
    const paths = tree.filter(({ kind }) => kinds.includes(kind)).map(({ path }) => path);
    return paths.length === 0 ? names : fc.constantFrom(...paths);
  };
  const below = (above: fc.Arbitrary<BytePath>, ...more: fc.Arbitrary<BytePath>[]) =>
    fc.tuple(above, ...more).map((parts) => parts.filter((part) => part !== "").join("/"));
  const all = fc.constantFrom("", ...tree.map(({ path }) => path));
  const directories = fc.oneof({ weight: 4, arbitrary: oneOf("directory", "crowd") }, {
    weight: 1,
    arbitrary: fc.constant(""),
  });
  const any = fc.oneof(
    { weight: 12, arbitrary: all },
    { weight: 4, arbitrary: below(all, names) },
    { weight: 1, arbitrary: below(all, names, names) },
  );
  return {
    any,
    existing: fc.oneof({ weight: 6, arbitrary: oneOf("file", "hard link") }, { weight: 1, arbitrary: any }),
    file: fc.oneof(
      { weight: 8, arbitrary: oneOf("file", "hard link") },
      { weight: 3, arbitrary: oneOf("link") },
      { weight: 4, arbitrary: below(directories, names) },
      { weight: 2, arbitrary: any },
    ),
    directory: fc.oneof(
      { weight: 6, arbitrary: directories },
      { weight: 3, arbitrary: oneOf("link") },
      { weight: 1, arbitrary: any },
    ),
    place: fc.oneof({ weight: 3, arbitrary: below(directories, names) }, { weight: 2, arbitrary: any }),
  };
}

/** Their usual URIs, as JSON. */
export function plain(paths: fc.Arbitrary<BytePath>): fc.Arbitrary<string> {
  return paths.map((path) => JSON.stringify(plainUri(path)));
}
