import { constants } from "node:os";
import { ExecError } from "../../errors.ts";
import type { AccessProbe } from "../program.ts";
import { errorCode, launchError } from "./launch_errors.ts";

/**
 * A path as the text that the launchers want.
 *
 * @throws {ExecError} `spawnFailed` if it is not UTF-8.
 */
export function pathText(path: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(path);
  } catch (cause) {
    throw new ExecError("spawnFailed", "a path that is not UTF-8 cannot be used for launching on this system", {
      cause,
    });
  }
}

/** @throws {ExecError} If the path is not a directory that exists: the launcher would not say which of the two it is. */
export async function requireDirectory(path: string): Promise<void> {
  let isDirectory: boolean;
  try {
    isDirectory = (await Deno.stat(path)).isDirectory;
  } catch (error) {
    throw launchError(error);
  }
  if (!isDirectory) throw launchError("ENOTDIR");
}

/** @throws {ExecError} If the file cannot be executed: node-pty would only say so on the terminal. */
export async function requireExecutable(path: string): Promise<void> {
  let info: Deno.FileInfo;
  try {
    info = await Deno.stat(path);
  } catch (error) {
    throw launchError(error);
  }
  if (info.isDirectory || !isExecutable(info)) throw launchError("EACCES");
}

/**
 * Asks about a path, see {@linkcode AccessProbe}. Whether a file is executable is read from its mode, whoever we are:
 * the runtime has no access(2).
 */
export const probe: AccessProbe = (path, mode) => {
  try {
    const info = Deno.statSync(pathText(path));
    return mode === "exists" || isExecutable(info) ? 0 : constants.errno.EACCES;
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined || !Object.hasOwn(constants.errno, code)) throw error;
    return constants.errno[code as keyof typeof constants.errno];
  }
};

/** Windows has no such mode; there the launcher decides. */
function isExecutable({ mode }: Deno.FileInfo): boolean {
  return mode === null || (mode & 0o111) !== 0;
}
