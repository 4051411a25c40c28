/** The sandbox document: what a program or a file operation may touch. */

import {
  boolean,
  type Codec,
  type Decoded,
  enumeration,
  invalidType,
  nullable,
  pathUri,
  refusal,
  seq,
  string,
} from "../codec.ts";
import { JsonNumber } from "../json.ts";
import { defaulted, struct } from "../struct.ts";
import { taggedUnion, variant } from "./tagged_union.ts";

const specialPath = taggedUnion("FileSystemSpecialPath", "kind", {
  /** `/`. */
  root: variant("FileSystemSpecialPath::Root", {}),
  /** The platform's runtime directories. */
  minimal: variant("FileSystemSpecialPath::Minimal", {}),
  /** Each of the workspace roots, plus the subpath; the other spelling means the same, whatever it says. */
  project_roots: variant(
    "FileSystemSpecialPath::ProjectRoots",
    { subpath: defaulted(nullable(string), null) },
    ["current_working_directory"],
  ),
  /** The directory in the TMPDIR of the process to be. */
  tmpdir: variant("FileSystemSpecialPath::Tmpdir", {}),
  slash_tmp: variant("FileSystemSpecialPath::SlashTmp", {}),
  /** For names that do not exist yet: grants nothing. */
  unknown: variant("FileSystemSpecialPath::Unknown", { path: string, subpath: defaulted(nullable(string), null) }),
});

const entryPath = taggedUnion("ExecFileSystemPath", "type", {
  path: variant("ExecFileSystemPath::Path", { path: pathUri }),
  /** A native pattern, not a URI. */
  glob_pattern: variant("ExecFileSystemPath::GlobPattern", { pattern: string }),
  special: variant("ExecFileSystemPath::Special", { value: specialPath }),
});

const entry = struct("ExecFileSystemSandboxEntry", {
  path: entryPath,
  access: enumeration(["read", "write", "deny"], { none: "deny" }),
  missing_path_behavior: defaulted(nullable(enumeration(["skip"])), null),
});

/** Only ever below a tagged union, hence the wording; beyond 2^53 - 1 it is as good as endless. */
const nonzeroUsize: Codec<number> = {
  decode(json) {
    if (!(json instanceof JsonNumber) || !/^-?\d+$/.test(json.text)) throw invalidType(json, "a nonzero usize", true);
    const value = Number(json.text);
    if (value <= 0) throw refusal(`invalid value: integer \`${BigInt(json.text)}\`, expected a nonzero usize`);
    return Math.min(value, Number.MAX_SAFE_INTEGER);
  },
  encode: (value) => value,
};

const fileSystem = taggedUnion("ExecManagedFileSystemPermissions", "type", {
  restricted: variant("ExecManagedFileSystemPermissions::Restricted", {
    entries: seq(entry),
    glob_scan_max_depth: defaulted(nullable(nonzeroUsize), null),
  }),
  unrestricted: variant("ExecManagedFileSystemPermissions::Unrestricted", {}),
});

const network = enumeration(["restricted", "enabled"]);

const permissions = taggedUnion("ExecPermissionProfile", "type", {
  managed: variant("ExecPermissionProfile::Managed", { file_system: fileSystem, network }),
  /** No restriction. */
  disabled: variant("ExecPermissionProfile::Disabled", {}),
  /** Someone else confines the file system. */
  external: variant("ExecPermissionProfile::External", { network }),
});

const override = enumeration(["noOverride", "escalatedSandboxWithRestrictions", "bypassSandboxFirstAttempt"]);
const windowsLevel = enumeration(["disabled", "restricted-token", "elevated", "mxc"]);
const windowsProxySettings = enumeration(["reconcile", "preserve"]);

/** Newer spelling of what relative permissions refer to; where present it wins over the outer one. */
const policyContext = struct("WireFileSystemPolicyContext", {
  cwd: defaulted(nullable(pathUri), null),
  workspaceRoots: defaulted(seq(pathUri), []),
});

export const sandboxContext = struct("WireFileSystemSandboxContext", {
  permissions,
  /** Never a reason to enforce less. */
  sandboxOverride: defaulted(override, "noOverride"),
  cwd: defaulted(nullable(pathUri), null),
  policyContext: defaulted(nullable(policyContext), null),
  workspaceRoots: defaulted(seq(pathUri), []),
  userHomeDir: defaulted(nullable(pathUri), null),
  temporaryDirectories: defaulted(nullable(seq(pathUri)), null),
  windowsSandboxLevel: windowsLevel,
  windowsSandboxProxySettingsMode: defaulted(nullable(windowsProxySettings), null),
  useLegacyLandlock: defaulted(boolean, false),
});
export type SandboxContext = Decoded<typeof sandboxContext>;

/** The older document that `capabilities/discoverV2` takes. */
export const discoverySandboxContext = struct("FileSystemSandboxContext", {
  permissions,
  sandboxOverride: defaulted(override, "noOverride"),
  cwd: pathUri,
  workspaceRoots: defaulted(seq(pathUri), []),
  userHomeDir: defaulted(nullable(pathUri), null),
  temporaryDirectories: defaulted(nullable(seq(pathUri)), null),
  windowsSandboxLevel: windowsLevel,
  windowsSandboxProxySettingsMode: defaulted(nullable(windowsProxySettings), null),
  useLegacyLandlock: defaulted(boolean, false),
});

/**
 * Whether a program may run as if no sandbox had been asked for. False also for documents of which only a closer look
 * would tell: a root that may be written, with other entries.
 */
export function restrictsNothing({ permissions }: SandboxContext): boolean {
  if (permissions.type === "disabled") return true;
  if (permissions.network !== "enabled") return false;
  if (permissions.type === "external" || permissions.file_system.type === "unrestricted") return true;
  const { entries } = permissions.file_system;
  return entries.length > 0 &&
    entries.every(({ path, access, missing_path_behavior }) =>
      access === "write" && missing_path_behavior === null && path.type === "special" && path.value.kind === "root"
    );
}
