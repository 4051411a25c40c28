import { ExecError } from "../../errors.ts";
import type { LaunchSpec } from "../child.ts";
import { errorCode, launchError } from "./launch_errors.ts";

/**
 * Refuses what the launchers below would report in other words, or not at all.
 *
 * @throws {ExecError} `spawnFailed` for an empty program name or a NUL.
 */
export function checkArguments(spec: LaunchSpec): void {
  if (spec.argv[0] === "") {
    throw new ExecError("spawnFailed", `missing program for ${spec.tty ? "PTY" : "pipe"} spawn`);
  }
  if ([...spec.argv, spec.arg0 ?? ""].some((argument) => argument.includes("\0"))) {
    throw new ExecError("spawnFailed", "nul byte found in provided data");
  }
  for (const [name, value] of spec.env) {
    if (name.includes("\0") || value.includes("\0")) {
      throw new ExecError("spawnFailed", "data provided contains a nul byte");
    }
  }
}

/**
 * The working directory as the text that the launchers want.
 *
 * @throws {ExecError} `spawnFailed` if it is not UTF-8.
 */
export function pathText(path: Uint8Array<ArrayBuffer>): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(path);
  } catch (cause) {
    throw new ExecError("spawnFailed", "the working directory is not UTF-8, which launching needs on this system", {
      cause,
    });
  }
}

/** @throws {ExecError} If the path is not a directory that exists. */
export async function requireDirectory(path: string): Promise<void> {
  let isDirectory: boolean;
  try {
    isDirectory = (await Deno.stat(path)).isDirectory;
  } catch (error) {
    throw launchError(error);
  }
  if (!isDirectory) throw launchError("ENOTDIR");
}

/**
 * The file that a terminal's program names: found on the PATH of the program's environment, or below the directory in
 * which it starts.
 *
 * @throws {ExecError} With the reason why there is none.
 */
export async function terminalProgram(
  name: string,
  directory: string,
  env: ReadonlyMap<string, string>,
): Promise<string> {
  if (name.startsWith("/")) {
    const code = await whyNotExecutable(name);
    if (code === null) return name;
    throw launchError(code);
  }
  if (name.includes("/")) {
    const path = `${directory}/${name}`;
    const code = await whyNotExecutable(path);
    if (code === null) return path;
    const reason = code === "EACCES" ? "it is not executable" : "it does not exist";
    throw new ExecError("spawnFailed", `Unable to spawn ${path} because ${reason}`);
  }
  const searched = env.get("PATH");
  if (searched === undefined) {
    throw new ExecError("spawnFailed", `Unable to spawn ${name} because:\nUnable to resolve the PATH`);
  }
  for (const entry of searched.split(":")) {
    const path = `${entry.startsWith("/") ? entry : `${directory}/${entry}`}/${name}`;
    if (await whyNotExecutable(path) === null) return path;
  }
  throw new ExecError(
    "spawnFailed",
    `Unable to spawn ${name} because:\nNo viable candidates found in PATH ${JSON.stringify(searched)}`,
  );
}

/** null if the path is a file that somebody may execute, otherwise the error that executing it would give. */
async function whyNotExecutable(path: string): Promise<string | null> {
  try {
    const { isFile, mode } = await Deno.stat(path);
    return isFile && (mode === null || (mode & 0o111) !== 0) ? null : "EACCES";
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    return code;
  }
}
