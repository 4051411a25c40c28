/** Random conversations in sandboxes: a tree, a policy, and what is asked and tried under it. */
import fc from "fast-check";
import type { BytePath } from "../fs/posix.ts";
import { plainUri } from "../fs/random_uri.ts";
import { type Entry, TREE } from "../fs/tree.ts";
import { type Operation, operationsOn } from "./operations.ts";
import { policiesOn, type Policy } from "./random_policy.ts";
import { pathsOf, trees } from "./random_tree.ts";

export type SandboxStep = RequestStep | ProgramStep;

/** One request; the sandbox is put into its parameters if it takes one. */
export interface RequestStep {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A program. */
export interface ProgramStep {
  readonly operations: readonly Operation[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly tty: boolean;
}

export interface SandboxScenario {
  readonly tree: readonly Entry[];
  readonly policy: Policy;
  readonly steps: readonly SandboxStep[];
}

function requestsOn(paths: fc.Arbitrary<BytePath>): fc.Arbitrary<readonly SandboxStep[]> {
  const path = paths.map(plainUri);
  const flag = fc.constantFrom(undefined, true, true, false);
  const data = fc.constantFrom("", "d3JpdHRlbgo=");
  const single = (method: string, params: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
    fc.record(params).map((params) => [{ method, params: withoutUndefined(params) }]);
  const open = fc.tuple(path, fc.constantFrom("read", "replace")).map(([path, mode]) => [
    { method: "fs/open", params: { handleId: "h", path, mode } },
    mode === "read"
      ? { method: "fs/readBlock", params: { handleId: "h", offset: 0, len: 1000 } }
      : { method: "fs/writeBlock", params: { handleId: "h", offset: 0, chunk: "YmxvY2sK" } },
    { method: "fs/close", params: { handleId: "h" } },
  ]);
  const walk = fc.tuple(path, fc.boolean(), fc.constantFrom(undefined, true)).map((
    [path, followDirectorySymlinks, pruneHiddenDirectories],
  ) => [{
    method: "fs/walk",
    params: {
      path,
      options: withoutUndefined({
        ...{ maxDepth: 64, maxDirectories: 1000, maxEntries: 1000 },
        ...{ followDirectorySymlinks, pruneHiddenDirectories },
      }),
    },
  }]);
  return fc.oneof(
    { weight: 3, arbitrary: single("fs/readFile", { path, followSymlinks: flag }) },
    { weight: 3, arbitrary: single("fs/getMetadata", { path, followSymlinks: flag }) },
    { weight: 1, arbitrary: single("fs/canonicalize", { path }) },
    { weight: 3, arbitrary: single("fs/readDirectory", { path }) },
    { weight: 2, arbitrary: walk },
    { weight: 5, arbitrary: single("fs/writeFile", { path, dataBase64: data, followSymlinks: flag }) },
    { weight: 3, arbitrary: single("fs/createDirectory", { path, recursive: flag, followSymlinks: flag }) },
    { weight: 4, arbitrary: single("fs/remove", { path, recursive: flag, force: flag }) },
    {
      weight: 3,
      arbitrary: single("fs/copy", { sourcePath: path, destinationPath: path, recursive: fc.boolean() }),
    },
    { weight: 3, arbitrary: open },
  );
}

function programsOn(paths: fc.Arbitrary<BytePath>): fc.Arbitrary<SandboxStep> {
  const place = paths.map((path) => path === "" ? TREE : `${TREE}/${path}`);
  return fc.record({
    operations: operationsOn(paths),
    cwd: fc.oneof({ weight: 3, arbitrary: fc.constant(TREE) }, { weight: 1, arbitrary: place }),
    env: fc.constantFrom({}, { TMPDIR: TEMPORARY }),
    tty: fc.constantFrom(false, false, false, false, true),
  });
}

/** Where the reference leaves files of its own: beside the tree, and not compared. */
export const TEMPORARY_NAME = "sub";
const TEMPORARY = `${TREE}/../${TEMPORARY_NAME}`;

function withoutLink(entry: Entry): Entry {
  return entry.kind === "link" ? { path: entry.path, kind: "directory", mode: 0o755, time: entry.time } : entry;
}

function withoutUndefined(params: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
}

export const scenarios: fc.Arbitrary<SandboxScenario> = trees.chain((tree) => {
  const paths = pathsOf(tree);
  const steps = fc.array(
    fc.oneof(
      { weight: 5, arbitrary: requestsOn(paths) },
      { weight: 2, arbitrary: programsOn(paths).map((program): readonly SandboxStep[] => [program]) },
    ),
    { minLength: 3, maxLength: 8, size: "max" },
  );
  return fc.record({ policy: policiesOn(paths), steps }).map(({ policy, steps }) => {
    // Where reading is restricted a link that a grant is spelled through is there with us, and not with the reference.
    const hasLinks = policy.entries.some((entry) => entry.includes('"kind":"root"'));
    return { tree: hasLinks ? tree : tree.map(withoutLink), policy, steps: steps.flat() };
  });
});
