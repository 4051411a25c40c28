/** Random conversations about files: a tree, and what is asked and done one after the other. */
import fc from "fast-check";
import type { Deed } from "./deeds.ts";
import type { BytePath } from "./posix.ts";
import { type Paths, pathsOf, plain } from "./random_paths.ts";
import { blockRequests, opensOf, requestsOn, type Uris } from "./random_request.ts";
import { trees } from "./random_tree.ts";
import { urisOf } from "./random_uri.ts";
import { watchStepsOn } from "./random_watch.ts";
import type { Entry } from "./tree.ts";

export type FsStep =
  /** One request, with placeholders. */
  | { readonly send: string }
  /** The same so many times, with `<number>` counted from 0. */
  | { readonly send: string; readonly times: number }
  /** All at once, none of them a copy: that could make links which the guard has not seen. */
  | { readonly together: readonly string[] }
  | { readonly deed: Deed }
  /** Another connection, on the old session or a new one. */
  | { readonly reconnect: "resume" | "new" };

export interface FsScenario {
  readonly tree: readonly Entry[];
  readonly steps: readonly FsStep[];
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

function send(requests: fc.Arbitrary<string>): fc.Arbitrary<FsStep> {
  return requests.map((send) => ({ send }));
}

function urisFor({ file, directory, place, any }: Paths): Uris {
  const uris = (of: fc.Arbitrary<BytePath>) => urisOf(of).map((uri) => JSON.stringify(uri));
  return { file: uris(file), directory: uris(directory), place: uris(place), any: uris(any) };
}

function stepsOn(tree: readonly Entry[]): fc.Arbitrary<readonly FsStep[]> {
  const paths = pathsOf(tree);
  const single = fc.oneof(
    { weight: 40, arbitrary: send(requestsOn(urisFor(paths))) },
    { weight: 4, arbitrary: deedsOn(paths).map((deed) => ({ deed })) },
    { weight: 1, arbitrary: fc.constantFrom("resume" as const, "new" as const).map((reconnect) => ({ reconnect })) },
  );
  const withHandle = (id: string, mode: "read" | "replace") => {
    const uses = fc.oneof({ weight: 6, arbitrary: send(blockRequests(id)) }, { weight: 1, arbitrary: single });
    const open = send(opensOf(id, mode, plain(mode === "read" ? paths.existing : paths.file)));
    return fc.tuple(open, fc.array(uses, { minLength: 2, maxLength: 12, size: "max" })).map((
      [open, uses],
    ) => [open, ...uses]);
  };
  const manyHandles = fc.tuple(plain(paths.existing), fc.constantFrom(127, 128, 129)).map(([uri, times]) => [
    { send: `{"id":1,"method":"fs/open","params":{"handleId":"h<number>","path":${uri}}}`, times },
  ]);
  const handleRequests = fc.oneof(
    opensOf("h", "read", plain(paths.existing)),
    opensOf("h", "replace", plain(paths.file)),
    blockRequests("h"),
    blockRequests("h"),
  );
  const noCopy = requestsOn(urisFor(paths)).filter((request) => !request.includes('"fs/copy"'));
  const some = { minLength: 2, maxLength: 8, size: "max" } as const;
  const together = fc.oneof(fc.array(noCopy, some), fc.array(handleRequests, some)).map((requests) => [
    { together: requests.map((request, i) => request.replace('"id":1', `"id":${i + 1}`)) },
  ]);
  const group = fc.oneof(
    { weight: 60, arbitrary: single.map((step) => [step]) },
    { weight: 4, arbitrary: fc.oneof(withHandle("h", "read"), withHandle("i", "read")) },
    { weight: 4, arbitrary: fc.oneof(withHandle("h", "replace"), withHandle("i", "replace")) },
    { weight: 1, arbitrary: manyHandles },
    { weight: 3, arbitrary: together },
  );
  return fc.array(group, { minLength: 10, maxLength: 30, size: "max" }).map((groups) => groups.flat());
}

export const scenarios: fc.Arbitrary<FsScenario> = trees.chain((tree) =>
  fc.oneof(
    { weight: 6, arbitrary: stepsOn(tree) },
    // These wait to see that nothing comes.
    { weight: 1, arbitrary: watchStepsOn(tree) },
  ).map((steps) => ({ tree, steps }))
);
