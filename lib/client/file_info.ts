import type { Result } from "../protocol/methods.ts";
import type { FileInfo } from "./files.ts";

/** What a server says of a link that it may not follow. */
export const IS_A_LINK = "path contains a symbolic link";
/** The wire tells of what a link leads to; of the link itself only that it is one. */
export const A_LINK: FileInfo = {
  isDirectory: false,
  isFile: false,
  isSymlink: true,
  size: 0,
  birthtime: null,
  mtime: null,
};

/** Times are 0 where the server does not know them, which for the birth is the rule. */
export function fileInfo({ createdAtMs, modifiedAtMs, ...others }: Result<"fs/getMetadata">): FileInfo {
  return { ...others, birthtime: createdAtMs === 0 ? null : new Date(createdAtMs), mtime: new Date(modifiedAtMs) };
}
