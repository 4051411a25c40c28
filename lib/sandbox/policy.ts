/**
 * What a sandbox is asked to allow, and what that comes to on this machine. Paths are strings of bytes: each code unit is
 * one byte of the native path, so that names that are not UTF-8 keep their identity and paths can be compared.
 */

/** An absolute native path, one code unit per byte, without `.`, `..` and doubled or trailing slashes. */
export type BytePath = string;

export type Access = "read" | "write" | "deny";
export type NetworkAccess = "restricted" | "enabled";

/** A sandbox as it was asked for, on this machine's paths. */
export interface SandboxPolicy {
  readonly fileSystem: "unrestricted" | RestrictedFileSystem;
  readonly network: NetworkAccess;
}

export interface RestrictedFileSystem {
  readonly entries: readonly PolicyEntry[];
  /** How many directories deep `**` looks; 1: only into the directory before it. Null: without limit. */
  readonly globScanMaxDepth: number | null;
  /** What relative patterns are taken from. */
  readonly cwd: BytePath | null;
  /** What `projectRoots` stands for. */
  readonly workspaceRoots: readonly BytePath[];
  /** The directory that the environment of the program to be names as TMPDIR; null: none, and for file methods. */
  readonly tmpdir: BytePath | null;
}

export interface PolicyEntry {
  readonly path: PolicyPath;
  readonly access: Access;
}

export type PolicyPath =
  | { readonly kind: "path"; readonly path: BytePath }
  /** A native pattern in bytes; relative ones are taken from `cwd`. */
  | { readonly kind: "glob"; readonly pattern: string }
  | { readonly kind: "root" | "minimal" | "tmpdir" | "slashTmp" | "unknown" }
  | { readonly kind: "projectRoots"; readonly subpath: string | null };

/** What a policy comes to here and now: no entry is left that names something indirectly. */
export interface AccessPlan {
  /** Everything may be read. */
  readonly fullRead: boolean;
  /** Everything may be written. */
  readonly fullWrite: boolean;
  readonly network: NetworkAccess;
  /**
   * Grants by real paths, each deciding for itself and what is below it, up to the next longer one; sorted, each path once.
   * The protected names below writable directories are among them.
   */
  readonly rules: readonly AccessRule[];
  /**
   * Symbolic links that spelled grants go through, `/bin` for instance; sorted. A view that is built from nothing needs them
   * so that the same spelling works there; where the directory that a link stands in is readable it is there anyway.
   */
  readonly links: readonly PlanLink[];
  /** Why no sandbox can hold this policy, e.g. a protected name that is a link; undefined: one can. */
  readonly refusal: string | undefined;
}

export interface PlanLink {
  /** Where the link itself stands: no link leads there. */
  readonly path: BytePath;
  /** What it says, as it says it: relative ones are taken from the directory that it stands in. */
  readonly target: string;
}

export interface AccessRule {
  readonly path: BytePath;
  readonly access: Access;
  /** What is there. A missing path has a rule only where its creation has to be prevented. */
  readonly found: "directory" | "file" | "missing";
  /**
   * It protects a name of a writable directory, or the place that its `.git` file points to; entries may say the same or
   * more. Where such a name is missing it has to look like an empty directory, any other missing path like an empty file.
   */
  readonly isProtection: boolean;
}
