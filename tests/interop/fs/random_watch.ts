/** Random waits for files, and what may end them: something at a path that is waited for, above it, or beside it. */
import fc from "fast-check";
import type { Deed } from "./deeds.ts";
import { type Paths, pathsOf, plain } from "./random_paths.ts";
import type { BytePath } from "./posix.ts";
import { watchesOf } from "./random_request.ts";
import type { FsStep } from "./random_scenario.ts";
import { plainUri, urisOf } from "./random_uri.ts";
import type { Entry } from "./tree.ts";

/** Not there at first: no tree has such names. */
const freshNames: fc.Arbitrary<BytePath> = fc.constantFrom("w", "w/x", "w/x/y", "\xffw");
const sizes = fc.constantFrom(0, 1, 100);

/** Makes something at a missing path, or at one of those above it that are missing too. */
function making(missing: BytePath, { any }: Paths): fc.Arbitrary<Deed> {
  const first = missing.search(/\xff?w/);
  const ways = [...missing.matchAll(/$|\//g)].map(({ index }) => missing.slice(0, index)).filter((way) =>
    way.length > first
  );
  const path = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...ways) },
    { weight: 1, arbitrary: fc.constantFrom(`${missing}-beside`, `${missing}/below`) },
  );
  return fc.oneof(
    { weight: 2, arbitrary: fc.record({ do: fc.constant("write" as const), path, size: sizes, offset: sizes }) },
    { weight: 4, arbitrary: path.map((path): Deed => ({ do: "mkdir", path })) },
    { weight: 1, arbitrary: path.map((path): Deed => ({ do: "link", path })) },
    { weight: 1, arbitrary: path.map((path): Deed => ({ do: "appear and vanish", path })) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("rename" as const), path: any, to: path }) },
  );
}

/** Changes or removes what is there. */
function changing(path: BytePath, { place }: Paths): fc.Arbitrary<Deed> {
  return fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant("write" as const), path: fc.constant(path), size: sizes, offset: sizes }),
    },
    { weight: 1, arbitrary: sizes.map((size): Deed => ({ do: "truncate", path, size })) },
    { weight: 1, arbitrary: fc.constant<Deed>({ do: "unlink", path }) },
    { weight: 1, arbitrary: fc.constant<Deed>({ do: "rmdir", path }) },
    { weight: 1, arbitrary: fc.constant<Deed>({ do: "mkdir", path: `${path}/below` }) },
    { weight: 1, arbitrary: place.map((to): Deed => ({ do: "rename", path, to })) },
    { weight: 1, arbitrary: fc.constantFrom(0o755, 0o700, 0o000).map((mode): Deed => ({ do: "chmod", path, mode })) },
  );
}

/** The same done by the server. */
function asked(missing: BytePath): fc.Arbitrary<FsStep> {
  const path = plainUri(missing);
  return fc.constantFrom(
    { method: "fs/createDirectory", params: { path } },
    { method: "fs/writeFile", params: { path, dataBase64: "" } },
    { method: "fs/remove", params: { path } },
  ).map((request) => ({ send: JSON.stringify({ id: 1, ...request }) }));
}

function groupOn(paths: Paths): fc.Arbitrary<readonly FsStep[]> {
  const missing = fc.tuple(paths.directory, freshNames).map(([directory, name]) =>
    directory === "" ? name : `${directory}/${name}`
  );
  return fc.tuple(missing, paths.any).chain(([missing, present]) => {
    const uri = fc.oneof(
      { weight: 6, arbitrary: plain(fc.constant(missing)) },
      { weight: 1, arbitrary: urisOf(fc.oneof(paths.place, fc.constant(missing))).map((uri) => JSON.stringify(uri)) },
    );
    const deed: fc.Arbitrary<FsStep> = fc.oneof(
      { weight: 4, arbitrary: making(missing, paths) },
      { weight: 2, arbitrary: changing(present, paths) },
      { weight: 1, arbitrary: changing(missing, paths) },
    ).map((deed) => ({ deed }));
    return fc.tuple(
      watchesOf(uri, plain(fc.constant(present))).map((send): FsStep => ({ send })),
      fc.array(fc.oneof({ weight: 5, arbitrary: deed }, { weight: 1, arbitrary: asked(missing) }), {
        minLength: 1,
        maxLength: 4,
        size: "max",
      }),
      fc.option(fc.constantFrom<FsStep>({ reconnect: "resume" }, { reconnect: "new" }), { nil: null, freq: 6 }),
    ).map(([watch, deeds, end]) => end === null ? [watch, ...deeds] : [watch, ...deeds, end]);
  });
}

export function watchStepsOn(tree: readonly Entry[]): fc.Arbitrary<readonly FsStep[]> {
  return fc.array(groupOn(pathsOf(tree)), { minLength: 2, maxLength: 5, size: "max" }).map((groups) => groups.flat());
}
