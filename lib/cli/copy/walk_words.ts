import { FileError } from "../../client/file_error.ts";

/** What is said of a copy file by file. */
export const WITHOUT_TAR =
  "times and the permission bits of directories were not kept: that takes tar on both sides, and one has none";
export const LINK = "links are copied only where both sides have tar";
export const SPECIAL = "only files, directories and links are copied";
export const NOT_UTF8 = "its name is not UTF-8, which only tar can copy";

/** Whether there is no sense in going on with other files: the link is lost, or a disk is full. */
export function isFinal(error: unknown): boolean {
  if (error instanceof FileError && error.kind === "BrokenPipe") return true;
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (code === "ENOSPC" || code === "EDQUOT") return true;
  return cause !== undefined && cause !== null && isFinal(cause);
}

export function wordsOf(error: unknown): string {
  if (error instanceof TypeError || error instanceof ReferenceError) throw error; // a mistake of ours
  return error instanceof Error ? error.message : String(error);
}
