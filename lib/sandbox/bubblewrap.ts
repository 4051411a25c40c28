/** How bubblewrap is told to make a view and to run a program in it. */

import { ExecError } from "../errors.ts";
import type { BubblewrapVersion } from "./bubblewrap_version.ts";
import { toBytes } from "./byte_path.ts";
import type { CoverFiles } from "./cover_files.ts";
import type { Mount } from "./mount_plan.ts";
import type { BytePath, NetworkAccess } from "./policy.ts";
import { viewContains } from "./view_contains.ts";

/** All words are bytes, one code unit each. */
export interface BubblewrapOptions {
  readonly version: BubblewrapVersion;
  readonly network: NetworkAccess;
  /** The program to run and its arguments; looked for in the view and along the PATH of `env`. */
  readonly command: readonly string[];
  /** What the program is told it is called, instead of the first word of the command. */
  readonly arg0?: string;
  /** All variables of the program, in order; bubblewrap adds `PWD`. */
  readonly env: Iterable<readonly [name: string, value: string]>;
  /** Real path of a directory that exists on the machine; the program begins in `/` if the view does not have it. */
  readonly cwd: BytePath;
  readonly covers: CoverFiles;
  /** Descriptors in bubblewrap: where it reads {@linkcode BubblewrapLaunch.options}, and the seccomp filter. */
  readonly optionsFd: number;
  readonly seccompFd: number;
  /** The descriptor of the first of {@linkcode BubblewrapLaunch.binds}; the others follow. */
  readonly firstBindFd: number;
  /** Where bubblewrap says which of our processes is process 1 of the sandbox; undefined: nowhere. */
  readonly infoFd?: number;
  /**
   * Whether the program is the leader of a session of its own, without a terminal to control it (no /dev/tty, no job
   * control, like the reference). Safe without only where nobody else reads from the terminal that it is on.
   */
  readonly newSession: boolean;
}

export interface BubblewrapLaunch {
  /**
   * Arguments of bubblewrap, the first of which is its own name. Bubblewrap itself must be started with an empty
   * environment: it runs outside of the sandbox, and LD_LIBRARY_PATH may lead to files that were written inside.
   */
  readonly argv: readonly string[];
  /**
   * What it reads from `optionsFd`: each option ends with a NUL. There, paths need not be UTF-8, and other users do not
   * see the variables in the list of processes.
   */
  readonly options: Uint8Array<ArrayBuffer>;
  /**
   * What bubblewrap takes from descriptors, to be opened by `openBinds`: a path could lead elsewhere by the time that
   * bubblewrap looks it up, when others have put a link in its place.
   */
  readonly binds: readonly BytePath[];
}

/** So many descriptors at once are handed over: far from the usual limit of 1024. */
export const MAX_BINDS = 512;

/** MAX_ARGS of bubblewrap.c: so many words in all, the program's own included. */
export const MAX_WORDS = 9000;

/**
 * Bubblewrap closes all these descriptors before the program begins; others that it inherits are the program's.
 *
 * @throws {ExecError} `sandboxUnavailable` if bubblewrap cannot do it: it takes 9000 words at most, we hand over 512
 * descriptors at most, and another name can be given to the program only since 0.9.0.
 */
export function bubblewrapLaunch(mounts: readonly Mount[], options: BubblewrapOptions): BubblewrapLaunch {
  const argv = ["bwrap", "--args", String(options.optionsFd), "--", ...options.command];
  const binds = mounts.filter(isBind).map(({ path }) => path);
  let bindFd = options.firstBindFd;
  const words = [
    ...isolation(options),
    ...mounts.flatMap((mount) =>
      isBind(mount)
        ? [mount.kind === "bind" ? "--bind-fd" : "--ro-bind-fd", String(bindFd++), mount.path]
        : mountWords(mount, options.covers)
    ),
    ...["--chdir", viewContains(mounts, options.cwd) ? options.cwd : "/"],
    ...environment(options.env),
    ...otherName(options),
    ...["--seccomp", String(options.seccompFd)],
    ...(options.infoFd === undefined ? [] : ["--info-fd", String(options.infoFd)]),
  ];
  const count = argv.length + words.length;
  if (count > MAX_WORDS || binds.length > MAX_BINDS) {
    throw new ExecError(
      "sandboxUnavailable",
      `sandbox unavailable: ${mounts.length} mounts and ${options.command.length} arguments are more than bubblewrap takes`,
    );
  }
  return { argv, options: toBytes(words.map((word) => `${word}\0`).join("")), binds };
}

/** The root is where every path begins: nobody can put anything in its place. */
export function isBind({ kind, path }: Mount): boolean {
  return (kind === "bind" || kind === "readOnlyBind") && path !== "/";
}

function isolation({ version, network, newSession }: BubblewrapOptions): string[] {
  return [
    ...["--unshare-user", "--unshare-pid", "--unshare-ipc"],
    ...(network === "restricted" ? ["--unshare-net"] : []),
    // Ordinary users could be root in a namespace within: harmless, were it not for the kernel's defects.
    ...(version.disablesUserNamespaces ? ["--disable-userns"] : []),
    ...["--cap-drop", "ALL", "--die-with-parent"],
    ...(newSession ? ["--new-session"] : []),
  ];
}

function mountWords(mount: Mount, covers: CoverFiles): string[] {
  const { path } = mount;
  switch (mount.kind) {
    case "emptyRoot":
      return []; // it is what bubblewrap begins with
    case "bind":
      return ["--bind", path, path];
    case "readOnlyBind":
      return ["--ro-bind", path, path];
    case "deviceBind":
      return ["--dev-bind", path, path];
    case "link":
      return ["--symlink", mount.target, path];
    case "devices":
      return ["--dev", path];
    case "processes":
      return ["--proc", path];
    case "emptyDirectory":
      return ["--perms", mount.mode.toString(8).padStart(4, "0"), "--tmpfs", path];
    case "emptyFile":
      return ["--ro-bind", mount.mode === 0 ? covers.unreadable : covers.empty, path];
    case "freeze":
      return ["--remount-ro", path];
  }
}

function environment(env: BubblewrapOptions["env"]): string[] {
  return [...env].flatMap(([name, value]) => ["--setenv", name, value]);
}

function otherName({ version, command, arg0 }: BubblewrapOptions): string[] {
  if (arg0 === undefined || arg0 === command[0]) return [];
  if (version.setsProgramName) return ["--argv0", arg0];
  throw new ExecError(
    "sandboxUnavailable",
    `sandbox unavailable: bubblewrap ${version.text} cannot give a program another name (0.9.0 can)`,
  );
}
