/** Random conversations about files: a tree, and what is asked and done one after the other. */
import fc from "fast-check";
import type { Deed } from "./deeds.ts";
import type { BytePath } from "./posix.ts";
import { requestsOn } from "./random_request.ts";
import { names, trees } from "./random_tree.ts";
import { plainUri, urisOf } from "./random_uri.ts";
import type { Entry } from "./tree.ts";

export type FsStep =
  /** One request, with placeholders. */
  | { readonly send: string }
  | { readonly deed: Deed }
  /** The same so many times, with `<number>` counted from 0. */
  | { readonly send: string; readonly times: number }
  /** Another connection, on the old session or a new one. */
  | { readonly reconnect: "resume" | "new" };

export interface FsScenario {
  readonly tree: readonly Entry[];
  readonly steps: readonly FsStep[];
}

/** Paths of a tree: of its entries, below them, beside them, the tree's own. */
function pathsOf(tree: readonly Entry[]): fc.Arbitrary<BytePath> {
  const entry = tree.length === 0 ? names : fc.constantFrom(...tree.map(({ path }) => path));
  return fc.oneof(
    { weight: 12, arbitrary: entry },
    { weight: 4, arbitrary: fc.tuple(entry, names).map((parts) => parts.join("/")) },
    { weight: 3, arbitrary: names },
    { weight: 1, arbitrary: fc.tuple(entry, names, names).map((parts) => parts.join("/")) },
    { weight: 1, arbitrary: fc.constant("") },
  );
}

function deedsOn(paths: fc.Arbitrary<BytePath>): fc.Arbitrary<Deed> {
  const size = fc.constantFrom(0, 1, 100, 5000);
  return fc.oneof(
    fc.record({ do: fc.constant("write" as const), path: paths, size, offset: size }),
    fc.record({ do: fc.constant("truncate" as const), path: paths, size }),
    fc.record({ do: fc.constantFrom("mkdir" as const, "unlink" as const, "rmdir" as const), path: paths }),
    fc.record({ do: fc.constant("rename" as const), path: paths, to: paths }),
    fc.record({
      do: fc.constant("chmod" as const),
      path: paths,
      mode: fc.constantFrom(0o644, 0o000, 0o755, 0o4711, 0o500),
    }),
  );
}

function stepsOn(tree: readonly Entry[]): fc.Arbitrary<readonly FsStep[]> {
  const paths = pathsOf(tree);
  const manyOpens = paths.map((path) =>
    JSON.stringify({ id: 1, method: "fs/open", params: { handleId: "h<number>", path: plainUri(path) } })
  );
  const step: fc.Arbitrary<FsStep> = fc.oneof(
    { weight: 60, arbitrary: requestsOn(urisOf(paths)).map((send) => ({ send })) },
    { weight: 4, arbitrary: deedsOn(paths).map((deed) => ({ deed })) },
    { weight: 1, arbitrary: fc.record({ send: manyOpens, times: fc.constantFrom(127, 128, 129) }) },
    { weight: 1, arbitrary: fc.constantFrom("resume" as const, "new" as const).map((reconnect) => ({ reconnect })) },
  );
  return fc.array(step, { minLength: 1, maxLength: 60, size: "max" });
}

export const scenarios: fc.Arbitrary<FsScenario> = trees.chain((tree) =>
  stepsOn(tree).map((steps) => ({ tree, steps }))
);
