/** Random conversations about files: a tree, and what is asked and done one after the other. */
import fc from "fast-check";
import type { Deed } from "./deeds.ts";
import type { BytePath } from "./posix.ts";
import { blockRequests, opensOf, requestsOn } from "./random_request.ts";
import { names, trees } from "./random_tree.ts";
import { plainUri, urisOf } from "./random_uri.ts";
import type { Entry } from "./tree.ts";

export type FsStep =
  /** One request, with placeholders. */
  | { readonly send: string }
  /** The same so many times, with `<number>` counted from 0. */
  | { readonly send: string; readonly times: number }
  | { readonly deed: Deed }
  /** Another connection, on the old session or a new one. */
  | { readonly reconnect: "resume" | "new" };

export interface FsScenario {
  readonly tree: readonly Entry[];
  readonly steps: readonly FsStep[];
}

/** Paths of a tree by what they were at the beginning. */
interface Paths {
  readonly file: fc.Arbitrary<BytePath>;
  readonly directory: fc.Arbitrary<BytePath>;
  /** A name in a directory, mostly a new one. */
  readonly place: fc.Arbitrary<BytePath>;
  /** Entries, and what is below or beside them. */
  readonly any: fc.Arbitrary<BytePath>;
}

function pathsOf(tree: readonly Entry[]): Paths {
  const oneOf = (...kinds: readonly Entry["kind"][]) => {
    const paths = tree.filter(({ kind }) => kinds.includes(kind)).map(({ path }) => path);
    return paths.length === 0 ? names : fc.constantFrom(...paths);
  };
  const below = (above: fc.Arbitrary<BytePath>, ...more: fc.Arbitrary<BytePath>[]) =>
    fc.tuple(above, ...more).map((parts) => parts.filter((part) => part !== "").join("/"));
  const all = fc.constantFrom("", ...tree.map(({ path }) => path));
  const directories = fc.oneof({ weight: 4, arbitrary: oneOf("directory") }, { weight: 1, arbitrary: fc.constant("") });
  const any = fc.oneof(
    { weight: 12, arbitrary: all },
    { weight: 4, arbitrary: below(all, names) },
    { weight: 1, arbitrary: below(all, names, names) },
  );
  return {
    any,
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

function deedsOn({ any, file, place }: Paths): fc.Arbitrary<Deed> {
  const size = fc.constantFrom(0, 1, 100, 5000);
  const modes = fc.constantFrom(0o644, 0o000, 0o755, 0o4711, 0o500);
  return fc.oneof(
    fc.record({ do: fc.constant("write" as const), path: file, size, offset: size }),
    fc.record({ do: fc.constant("truncate" as const), path: file, size }),
    fc.record({ do: fc.constantFrom("mkdir" as const, "unlink" as const, "rmdir" as const), path: any }),
    fc.record({ do: fc.constant("rename" as const), path: any, to: place }),
    fc.record({ do: fc.constant("chmod" as const), path: any, mode: modes }),
  );
}

function stepsOn(tree: readonly Entry[]): fc.Arbitrary<readonly FsStep[]> {
  const paths = pathsOf(tree);
  const uris = (of: fc.Arbitrary<BytePath>) => urisOf(of).map((uri) => JSON.stringify(uri));
  const [file, directory, place, any] = [paths.file, paths.directory, paths.place, paths.any].map(uris) as [
    fc.Arbitrary<string>,
    fc.Arbitrary<string>,
    fc.Arbitrary<string>,
    fc.Arbitrary<string>,
  ];
  const send = (requests: fc.Arbitrary<string>): fc.Arbitrary<FsStep> => requests.map((send) => ({ send }));
  const deed: fc.Arbitrary<FsStep> = deedsOn(paths).map((deed) => ({ deed }));
  const plainFile = paths.file.map((path) => JSON.stringify(plainUri(path)));
  const single = fc.oneof(
    { weight: 40, arbitrary: send(requestsOn({ file, directory, place, any })) },
    { weight: 4, arbitrary: deed },
    { weight: 1, arbitrary: fc.constantFrom("resume" as const, "new" as const).map((reconnect) => ({ reconnect })) },
  );
  const withHandles = fc.tuple(
    send(opensOf(plainFile)),
    fc.array(fc.oneof({ weight: 5, arbitrary: send(blockRequests) }, { weight: 1, arbitrary: single }), {
      minLength: 2,
      maxLength: 10,
      size: "max",
    }),
  ).map(([open, others]) => [open, ...others]);
  const manyHandles = fc.tuple(plainFile, fc.constantFrom(127, 128, 129)).map(([uri, times]) => [
    { send: `{"id":1,"method":"fs/open","params":{"handleId":"h<number>","path":${uri}}}`, times },
  ]);
  const group = fc.oneof(
    { weight: 60, arbitrary: single.map((step) => [step]) },
    { weight: 8, arbitrary: withHandles },
    { weight: 1, arbitrary: manyHandles },
  );
  return fc.array(group, { minLength: 10, maxLength: 30, size: "max" }).map((groups) => groups.flat());
}

export const scenarios: fc.Arbitrary<FsScenario> = trees.chain((tree) =>
  stepsOn(tree).map((steps) => ({ tree, steps }))
);
