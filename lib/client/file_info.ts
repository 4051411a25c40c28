import { PathUri } from "../path_uri.ts";
import type { Result } from "../protocol/methods.ts";
import { FileError } from "./file_error.ts";
import type { FileInfo } from "./files.ts";

/** What a server says of a link that it may not follow. */
const IS_A_LINK = "path contains a symbolic link";
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

/** What is asked about a path. Both fail with {@linkcode FileError}. */
export interface PathQuestions {
  realPath(path: string): Promise<string>;
  /** Without following any link. */
  stat(path: PathUri): Promise<unknown>;
}

/** Whether the last component itself is a link. It is asked about without links, so the way to it must have none. */
export async function isLinkItself(uri: PathUri, ask: PathQuestions): Promise<boolean> {
  const [, parent, name] = /^(file:\/\/.*)\/([^/]+)\/?$/.exec(uri.text) ?? [];
  if (parent === undefined || name === undefined) return false;
  try {
    const above = await ask.realPath(parent === "file://" ? "file:///" : parent);
    await ask.stat(PathUri.parse(`${above.replace(/\/$/, "")}/${name}`));
    return false;
  } catch (error) {
    if (!(error instanceof FileError) || error.kind === "BrokenPipe") throw error;
    return error.message === IS_A_LINK;
  }
}
