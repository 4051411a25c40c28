/**
 * What a sandbox on a file or discovery method restricts, and the checks that come before anything is enforced, in the
 * order of the reference.
 */

import { ExecError } from "../errors.ts";
import type { NativePath } from "../native_path.ts";
import type { PathUri } from "../path_uri.ts";
import type { ProgramConfinement } from "../sandbox/confine_program.ts";
import type { SandboxContext } from "./sandbox.ts";
import { DISCOVERY, filePolicy, type PolicyDocument } from "./sandbox_policy.ts";

/** What the two forms of the document have in common. */
export interface FileSandbox extends PolicyDocument {
  readonly useLegacyLandlock: boolean;
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

/** Whether a method that only reads has to be confined: the document does not allow to read everything. */
export function confinesReading(sandbox: FileSandbox | null): sandbox is FileSandbox {
  const entries = entriesOf(sandbox);
  if (entries === NO_ENTRIES) return false;
  return !entries.some((entry) => isRoot(entry) && entry.access !== "deny") ||
    entries.some((entry) => entry.access === "deny" || deniesRoots(entry));
}

/**
 * The same for a method that writes. An entry for reading takes the right to write away again, unless it is for the root
 * itself.
 */
export function confinesWriting(sandbox: FileSandbox | null): sandbox is FileSandbox {
  const entries = entriesOf(sandbox);
  if (entries === NO_ENTRIES) return false;
  return !entries.some((entry) => isRoot(entry) && entry.access === "write") ||
    entries.some((entry) => entry.access === "deny" || entry.access === "read" && !isRoot(entry));
}

/**
 * The same for a method that reads what stands in files.
 *
 * @param keepsSecrets Whether there are files that nobody in a sandbox may read, even where he may read everything; a
 * document that lets everything be written as well is none that restricts files.
 */
export function confinesContents(sandbox: FileSandbox | null, keepsSecrets: boolean): sandbox is FileSandbox {
  return confinesReading(sandbox) || keepsSecrets && confinesWriting(sandbox);
}

/** @throws {ExecError} `invalidRequest` for a path of the document's that this machine cannot have. */
export function checkPermissionPaths(sandbox: FileSandbox | null): void {
  for (const { path } of entriesOf(sandbox)) {
    if (path.type === "path") checkPermissionPath(path.path);
  }
}

/**
 * The paths of a method on this machine.
 *
 * @throws {ExecError} `invalidRequest` for the first path that this machine cannot have, those of the document before all.
 */
export function nativePaths<U extends readonly PathUri[]>(
  sandbox: FileSandbox | null,
  ...uris: U
): { readonly [I in keyof U]: NativePath } {
  checkPermissionPaths(sandbox);
  return uris.map((uri) => uri.toNative()) as { [I in keyof U]: NativePath };
}

/**
 * What a method has to be confined to, once its own paths have been looked at.
 *
 * @throws {ExecError} `invalidRequest` for what this machine cannot have.
 */
export function fileConfinement(sandbox: FileSandbox): ProgramConfinement {
  return { policy: filePolicy(sandbox), useLegacyLandlock: sandbox.useLegacyLandlock };
}

/** The same for the discovery of what is installed, which has words of its own: `internal` in the place of `invalidRequest`. */
export function discoveryConfinement(sandbox: FileSandbox): ProgramConfinement {
  return { policy: filePolicy(sandbox, DISCOVERY), useLegacyLandlock: sandbox.useLegacyLandlock };
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

/** A subpath that leads out of the workspace roots denies them, even where it was to allow reading. */
function deniesRoots({ path, access }: Entry): boolean {
  if (access === "write" || path.type !== "special" || path.value.kind !== "project_roots") return false;
  const { subpath } = path.value;
  return subpath !== null && (subpath.startsWith("/") || subpath.split("/").some((name) => /^\.\.?$/.test(name)));
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
