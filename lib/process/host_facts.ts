import { ownDirectory } from "../own_directory.ts";
import { PathUri } from "../path_uri.ts";
import { account } from "./account.ts";
import type { LoginShell } from "./login_shell.ts";

/** What this machine is, as the programs that are started here find it. Directories are `file:` URIs. */
export interface HostFacts {
  readonly shell: LoginShell;
  /** The same for the same installation, machine and user. */
  readonly providerId: string;
  /** Null: it has been removed under us. */
  readonly cwd: string | null;
  readonly userHomeDir: string | null;
  /** `linux`, `macos` or `windows`. */
  readonly platformOs: string;
  readonly temporaryDirectories: readonly string[];
  readonly tempDir: string;
}

/** Read from the process and its system; nothing in it changes while the process runs. */
export async function hostFacts(): Promise<HostFacts> {
  const { shell, home } = await account();
  const userHome = Deno.env.get("HOME") || home;
  // Clients know null.
  const cwd = ownDirectory() ?? null;
  const temporary = Deno.env.get("TMPDIR");
  const absolute = (path: string) => path.startsWith("/") || cwd === null ? path : `${cwd}/${path}`.replace(/\/$/, "");
  const directory = (path: string) => PathUri.fromNative(path);
  return {
    shell,
    providerId: await providerId(),
    cwd: cwd === null ? null : directory(cwd),
    userHomeDir: userHome === null ? null : directory(userHome),
    platformOs: PLATFORM_NAMES[Deno.build.os] ?? Deno.build.os,
    temporaryDirectories: temporary ? [directory(absolute(temporary))] : [],
    tempDir: directory(absolute(temporary ?? "/tmp")),
  };
}

const PLATFORM_NAMES: Readonly<Record<string, string>> = { linux: "linux", darwin: "macos", windows: "windows" };

/**
 * One value for one installation, machine and user, the same after every start, with nothing written to disk: clients
 * only compare it.
 */
async function providerId(): Promise<string> {
  const parts = [
    Deno.execPath(),
    import.meta.dirname ?? "",
    Deno.hostname(),
    String(Deno.uid() ?? Deno.env.get("USERNAME")),
  ];
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(parts.join("\0")));
  return `sha256:${[...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
