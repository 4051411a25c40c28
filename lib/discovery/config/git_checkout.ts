import { type DiscoveryFiles, fileErrorText } from "../files.ts";
import { baseName, childUri, parentUri, selfAndAncestors, uriOfPath } from "../uris.ts";

/** Where a directory stands in a Git repository. Paths are URIs. */
export interface GitCheckout {
  /** The directory with `.git`; undefined outside of every repository. */
  readonly root: string | undefined;
  /**
   * The main checkout of the repository: the same as `root` but for linked worktrees. Undefined as well where `.git` is a
   * file that leads elsewhere.
   */
  readonly mainRoot: string | undefined;
}

/** Git's own pointer files have one line; a larger one is no pointer. */
const MAX_POINTER_BYTES = 65_536;

/**
 * Looked up in the files, without running Git. A linked worktree belongs to a main checkout only if both say so: else a
 * directory could name a trusted one as its own.
 */
export async function gitCheckout(files: DiscoveryFiles, cwd: string): Promise<GitCheckout> {
  const start = (await files.metadataIfVisible(cwd))?.isDirectory ? cwd : parentUri(cwd);
  for (const root of start === undefined ? [] : selfAndAncestors(start)) {
    const dotGit = childUri(root, ".git");
    const found = await files.metadataIfVisible(dotGit);
    if (found === undefined) continue;
    if (!found.isDirectory) return { root, mainRoot: await mainRootOf(files, root) };
    // An empty directory of that name is no repository.
    if (await files.metadataIfVisible(childUri(dotGit, "HEAD")) !== undefined) return { root, mainRoot: root };
  }
  return { root: undefined, mainRoot: undefined };
}

/** Undefined if `root` is no linked worktree that its main checkout knows. */
async function mainRootOf(files: DiscoveryFiles, root: string): Promise<string | undefined> {
  const adminDir = await pointedTo(files, childUri(root, ".git"), "gitdir:");
  const worktrees = adminDir && parentUri(adminDir);
  const repository = worktrees && parentUri(worktrees);
  const mainRoot = repository && parentUri(repository);
  if (!mainRoot || baseName(worktrees) !== "worktrees") return undefined;

  const checkoutGit = await pointedTo(files, childUri(adminDir, "gitdir"));
  const checkout = checkoutGit && parentUri(checkoutGit);
  if (!checkout || baseName(checkoutGit) !== ".git" || !(await files.isSame(checkout, root))) return undefined;
  const common = await pointedTo(files, childUri(adminDir, "commondir"));
  if (!common || !(await files.isSame(common, repository))) return undefined;
  return await ownsRepository(files, mainRoot, repository) ? mainRoot : undefined;
}

/** Whether `.git` in that directory is, or points to, the repository. */
async function ownsRepository(files: DiscoveryFiles, root: string, repository: string): Promise<boolean> {
  const dotGit = childUri(root, ".git");
  const isDirectory = (await files.metadataIfVisible(dotGit))?.isDirectory;
  const own = isDirectory ? dotGit : await pointedTo(files, dotGit, "gitdir:");
  return own !== undefined && await files.isSame(own, repository);
}

/** The path in a pointer file, taken from the directory of the file; undefined if it is none. */
async function pointedTo(files: DiscoveryFiles, pointer: string, prefix = ""): Promise<string | undefined> {
  // A symlink could lead to a pointer that someone else wrote.
  const found = await files.metadataIfVisible(pointer);
  if (!found?.isFile || found.isSymlink) return undefined;
  let bytes: Uint8Array<ArrayBuffer> | undefined;
  try {
    bytes = await files.read(pointer, MAX_POINTER_BYTES);
  } catch (error) {
    fileErrorText(error);
  }
  if (bytes === undefined) return undefined;
  const line = bytesAsCharacters(bytes).trim();
  const target = line.startsWith(prefix) ? line.slice(prefix.length).trim() : "";
  if (target === "" || target.includes("\0")) return undefined;
  return uriOfPath(Uint8Array.from(target, (character) => character.charCodeAt(0)), parentUri(pointer));
}

/** Each byte as the character of that number: a path need not be UTF-8. */
function bytesAsCharacters(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
