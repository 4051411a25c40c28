import { localProgram } from "../local_program.ts";
import { removeIfThere } from "./partial_file.ts";

/** Of permission bits: what the owner of a directory needs to move and empty it. */
export const OWNER_ALL = 0o700;

/** Renames a directory into another one; only those that may be written to can be moved. */
export async function moveDirectory(from: string, to: string): Promise<void> {
  const { mode } = await Deno.lstat(from);
  const isLocked = mode !== null && Deno.build.os !== "windows" && (mode & OWNER_ALL) !== OWNER_ALL;
  if (isLocked) await Deno.chmod(from, mode & 0o7777 | OWNER_ALL);
  await Deno.rename(from, to);
  if (isLocked) await Deno.chmod(to, mode & 0o7777);
}

/** Removes a directory of ours with all that is in it, directories that may not be written to as well. */
export async function removeTree(path: string): Promise<void> {
  try {
    await removeIfThere(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.PermissionDenied) || Deno.build.os === "windows") throw error;
    // Names in it need not be UTF-8, and then we cannot name them.
    await localProgram("chmod", { args: ["-R", "u+rwx", path], stdin: "null", stdout: "null", stderr: "null" })
      .output();
    await removeIfThere(path, { recursive: true });
  }
}
