import { cString } from "../../linux/cstring.ts";
import { ENOENT } from "../../linux/errno.ts";
import * as libc from "../../linux/libc.ts";
import { type PasswordEntry, passwordEntry, realUserId } from "../../linux/passwd.ts";
import { ownDirectory } from "../../own_directory.ts";
import { type ShellFiles, terminalShell } from "../login_shell.ts";
import type { AccessProbe } from "../program.ts";
import { spawnError } from "./spawn_error.ts";

/** Looks at files as the user that runs us. */
export const probe: AccessProbe = (path, mode) =>
  -libc.access(cString(path), mode === "executable" ? libc.X_OK : libc.F_OK);

export const shellFiles: ShellFiles = {
  isFile: (path) => libc.access(cString(path), libc.F_OK) === 0 && libc.access(cString(`${path}/`), libc.F_OK) !== 0,
  isExecutable: (path) => libc.access(cString(path), libc.X_OK) === 0,
};

/** Our own entry; asked for once, since a directory service may take its time. */
let ownEntry: PasswordEntry | null | undefined;

export function ownPasswordEntry(): PasswordEntry | null {
  return ownEntry === undefined ? ownEntry = passwordEntry(realUserId()) : ownEntry;
}

/** Where a terminal starts whose working directory is none and whose environment has no HOME. */
export function homeDirectory(): string {
  return ownPasswordEntry()?.home ?? "/";
}

/** Our own directory. @throws {ExecError} `spawnNotFound` if it has been removed. */
export function workingDirectory(): string {
  const directory = ownDirectory();
  if (directory === undefined) throw spawnError(ENOENT);
  return directory;
}

/** The variables of a terminal's program, to which SHELL is added if it is not among them. */
export function withShell(env: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  if (env.has("SHELL")) return env;
  return new Map([...env, ["SHELL", terminalShell(ownPasswordEntry()?.shell ?? null, shellFiles)]]);
}
