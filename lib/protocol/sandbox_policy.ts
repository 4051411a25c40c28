/** From the sandbox document to a policy on this machine's paths, in the order of the reference's checks. */

import { ExecError, type ExecErrorKind } from "../errors.ts";
import type { NativePath } from "../native_path.ts";
import type { PathUri } from "../path_uri.ts";
import { fromBytes, fromText, join, normalized } from "../sandbox/byte_path.ts";
import type { BytePath, PolicyEntry, PolicyPath, RestrictedFileSystem, SandboxPolicy } from "../sandbox/policy.ts";
import type { SandboxContext } from "./sandbox.ts";

/** What the two forms of the document have in common. */
export interface PolicyDocument extends Pick<SandboxContext, "permissions" | "workspaceRoots" | "windowsSandboxLevel"> {
  readonly cwd: PathUri | null;
  readonly policyContext?: SandboxContext["policyContext"];
}

/** What a policy takes from the program that it is for. */
export interface ProgramContext {
  readonly cwd: PathUri;
  /** All variables that the program gets. */
  readonly env: ReadonlyMap<string, string>;
}

const PROGRAM_FAILURE = "failed to prepare process sandbox: ";

/**
 * The policy for a program, and the directory that it is to run in.
 *
 * @throws {ExecError} `sandboxPreparation` for the first path that this machine cannot have.
 */
export function programPolicy(
  sandbox: PolicyDocument,
  program: ProgramContext,
): { readonly policy: SandboxPolicy; readonly cwd: NativePath } {
  const native = (uri: PathUri, what: string) => toNative(uri, "sandboxPreparation", `${PROGRAM_FAILURE}${what}: `);
  const context = contextOf(sandbox);
  const base = {
    cwd: fromBytes(native(context.cwd ?? program.cwd, "invalid sandbox policy cwd")),
    workspaceRoots: context.workspaceRoots.map((root) => fromBytes(native(root, "invalid sandbox workspace root"))),
  };
  const entries = entriesOf(sandbox, (uri) => fromBytes(native(uri, "invalid sandbox permission path")));
  const cwd = native(program.cwd, `command cwd URI \`${program.cwd.text}\` is not valid on this host`);
  const tmpdir = temporaryDirectory(program.env.get("TMPDIR"), fromBytes(cwd));
  return { policy: policyOf(sandbox, { ...base, entries, tmpdir }), cwd };
}

/** How a family of methods tells of what this machine cannot have. */
interface PolicyWords {
  readonly kind: ExecErrorKind;
  readonly permissionPath: string;
  /** Whether the directory and the roots come before the entries. */
  readonly contextFirst: boolean;
}

const FILE_METHODS: PolicyWords = {
  kind: "invalidRequest",
  permissionPath: "invalid sandbox permission path URI: ",
  contextFirst: false,
};
export const DISCOVERY: PolicyWords = {
  kind: "internal",
  permissionPath: "invalid sandbox permission path: ",
  contextFirst: true,
};

/**
 * The policy for a method that works on files.
 *
 * @throws {ExecError} `invalidRequest` for the first path that this machine cannot have, those of the entries first.
 */
export function filePolicy(sandbox: PolicyDocument, words: PolicyWords = FILE_METHODS): SandboxPolicy {
  const native = (uri: PathUri, prefix: string) => fromBytes(toNative(uri, words.kind, prefix));
  const context = () => {
    const { cwd, workspaceRoots } = contextOf(sandbox);
    return {
      cwd: cwd === null ? null : native(cwd, ""),
      workspaceRoots: workspaceRoots.map((root) => native(root, "invalid sandbox workspace root: ")),
    };
  };
  const first = words.contextFirst ? context() : undefined;
  const entries = entriesOf(sandbox, (uri) => native(uri, words.permissionPath));
  const { cwd, workspaceRoots } = first ?? context();
  if (sandbox.windowsSandboxLevel === "mxc") {
    const reason = "native MXC is unavailable on this executor";
    throw new ExecError(words.kind, `failed to prepare fs sandbox: failed to prepare MXC sandbox: ${reason}`);
  }
  return policyOf(sandbox, { cwd, workspaceRoots, entries, tmpdir: null });
}

/** Where there is a newer context its roots are the only ones; its directory need not be named. */
function contextOf({ cwd, workspaceRoots, policyContext }: PolicyDocument): Pick<
  PolicyDocument,
  "cwd" | "workspaceRoots"
> {
  if (!policyContext) return { cwd, workspaceRoots };
  return { cwd: policyContext.cwd ?? cwd, workspaceRoots: policyContext.workspaceRoots };
}

function toNative(uri: PathUri, kind: ExecErrorKind, prefix: string): NativePath {
  try {
    return uri.toNative();
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    throw new ExecError(kind, prefix + error.message, { cause: error });
  }
}

/** A relative one is taken from the program's directory. What no directory can be called is none. */
function temporaryDirectory(text: string | undefined, cwd: BytePath): BytePath | null {
  if (text === undefined || text === "" || text.includes("\0")) return null;
  const path = fromText(text);
  return normalized(path.startsWith("/") ? path : join(cwd, path));
}

function policyOf(
  { permissions }: PolicyDocument,
  context: Omit<RestrictedFileSystem, "globScanMaxDepth">,
): SandboxPolicy {
  if (permissions.type === "disabled") return { fileSystem: "unrestricted", network: "enabled" };
  const { network } = permissions;
  if (permissions.type === "external" || permissions.file_system.type === "unrestricted") {
    return { fileSystem: "unrestricted", network };
  }
  return { fileSystem: { ...context, globScanMaxDepth: permissions.file_system.glob_scan_max_depth }, network };
}

function entriesOf({ permissions }: PolicyDocument, native: (uri: PathUri) => BytePath): PolicyEntry[] {
  if (permissions.type !== "managed" || permissions.file_system.type !== "restricted") return [];
  return permissions.file_system.entries.map(({ path, access }) => ({ path: policyPath(path, native), access }));
}

type Managed = Extract<SandboxContext["permissions"], { type: "managed" }>;
type Restricted = Extract<Managed["file_system"], { type: "restricted" }>;

function policyPath(path: Restricted["entries"][number]["path"], native: (uri: PathUri) => BytePath): PolicyPath {
  if (path.type === "path") return { kind: "path", path: native(path.path) };
  if (path.type === "glob_pattern") return { kind: "glob", pattern: fromText(path.pattern) };
  const { value } = path;
  switch (value.kind) {
    case "project_roots":
      return { kind: "projectRoots", subpath: value.subpath === null ? null : fromText(value.subpath) };
    case "slash_tmp":
      return { kind: "slashTmp" };
    default:
      return { kind: value.kind };
  }
}
