/**
 * What a sandbox on a file or discovery method means as long as nothing enforces one: what it does not restrict is done,
 * everything else is refused. Nothing that asked to be confined is ever done unconfined.
 */

import { ExecError } from "../errors.ts";
import type { NativePath } from "../native_path.ts";
import type { PathUri } from "../path_uri.ts";
import type { SandboxContext } from "./sandbox.ts";

/** What the two forms of the document have in common. */
export interface FileSandbox {
  readonly permissions: SandboxContext["permissions"];
  readonly cwd: PathUri | null;
  readonly policyContext?: SandboxContext["policyContext"];
}

type Managed = Extract<SandboxContext["permissions"], { type: "managed" }>;
type Entry = Extract<Managed["file_system"], { type: "restricted" }>["entries"][number];

/**
 * To be called before anything else of the request is looked at.
 *
 * @throws {ExecError} `invalidParams` if the document says nothing without a directory that it does not name.
 */
export function requireCwd(sandbox: FileSandbox | null): void {
  if ((sandbox?.policyContext?.cwd ?? sandbox?.cwd) === null && entriesOf(sandbox).some(needsCwd)) {
    throw new ExecError("invalidParams", "file system sandbox context with dynamic permissions requires cwd");
  }
}

/** Whether a method that only reads would have to be confined: the document does not allow to read everything. */
export function confinesReading(sandbox: FileSandbox | null): boolean {
  const entries = entriesOf(sandbox);
  if (entries === NO_ENTRIES) return false;
  return !entries.some((entry) => isRoot(entry) && entry.access !== "deny") ||
    entries.some(({ access }) => access === "deny");
}

/**
 * The same for a method that writes. An entry for reading takes the right to write away again, unless it is for the root
 * itself.
 */
export function confinesWriting(sandbox: FileSandbox | null): boolean {
  const entries = entriesOf(sandbox);
  if (entries === NO_ENTRIES) return false;
  return !entries.some((entry) => isRoot(entry) && entry.access === "write") ||
    entries.some((entry) => entry.access === "deny" || entry.access === "read" && !isRoot(entry));
}

/**
 * The paths of a method on this machine.
 *
 * @param confined What one of the two functions above says of the document.
 * @throws {ExecError} `invalidRequest` for a path, also one of the document's, that this machine cannot have; `internal`
 * if the method would have to be confined.
 */
export function unconfinedPaths(
  sandbox: FileSandbox | null,
  confined: boolean,
  uris: readonly PathUri[],
): NativePath[] {
  for (const { path } of entriesOf(sandbox)) {
    if (path.type === "path") checkPermissionPath(path.path);
  }
  const paths = uris.map((uri) => uri.toNative());
  if (confined) throw refusal();
  return paths;
}

const NO_ENTRIES: readonly Entry[] = [];

/** {@linkcode NO_ENTRIES} itself: nothing is restricted. */
function entriesOf(sandbox: FileSandbox | null): readonly Entry[] {
  const permissions = sandbox?.permissions;
  if (permissions?.type !== "managed" || permissions.file_system.type !== "restricted") return NO_ENTRIES;
  return permissions.file_system.entries;
}

function needsCwd({ path }: Entry): boolean {
  if (path.type === "glob_pattern") return !path.pattern.startsWith("/");
  return path.type === "special" && path.value.kind === "project_roots";
}

function checkPermissionPath(uri: PathUri): void {
  try {
    uri.toNative();
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    throw new ExecError("invalidRequest", `invalid sandbox permission path URI: ${error.message}`, { cause: error });
  }
}

function isRoot({ path }: Entry): boolean {
  return path.type === "special" && path.value.kind === "root";
}

function refusal(): ExecError {
  return new ExecError(
    "internal",
    "fs sandbox helper failed with status unavailable: this server has no sandbox yet and does nothing without it " +
      "that asked to be confined",
  );
}
