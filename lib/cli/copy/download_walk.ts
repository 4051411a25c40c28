import type { Copying } from "./copying.ts";
import { downloadFile } from "./download_file.ts";
import { isFileName, isLink, localSide } from "./local_side.ts";
import { CopyError, type Target } from "./target.ts";
import { isFinal, LINK, NOT_UTF8, SPECIAL, WITHOUT_TAR, wordsOf } from "./walk_words.ts";

/** Copies a tree file by file, for where an archive cannot be had. What cannot be copied is reported and left out. */
export async function downloadByWalking(copying: Copying, from: string, to: Target): Promise<void> {
  copying.report.note(WITHOUT_TAR);
  copying.report.note("links that lead nowhere are not seen without tar");
  await downloadDirectory(copying, from, to);
}

async function downloadDirectory(copying: Copying, from: string, to: Target): Promise<void> {
  const { far, report, signal } = copying;
  const entries = [...await far.environment.files.readDir(from, { signal })];
  if (!to.exists) await Deno.mkdir(to.path);
  report.directories++;
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name } of entries) {
    signal.throwIfAborted();
    requireName(name);
    const uri = far.child(from, name);
    try {
      await downloadEntry(copying, uri, localSide.child(to.path, name), name);
    } catch (error) {
      if (signal.aborted || isFinal(error)) throw error;
      report.add("left out", far.shown(uri), name.includes("\ufffd") ? NOT_UTF8 : wordsOf(error));
    }
  }
}

async function downloadEntry(copying: Copying, from: string, to: string, name: string): Promise<void> {
  const { far, report, signal } = copying;
  const shown = far.shown(from);
  const info = await far.environment.files.lstat(from, { signal });
  if (info.isSymlink) return report.add("left out", shown, LINK);
  if (!info.isFile && !info.isDirectory) return report.add("special", shown, SPECIAL);
  const wanted = info.isDirectory ? "directory" : "file";
  // A link here may lead out of the tree, and may be of an earlier copy.
  if (await isLink(to)) throw new CopyError(`${to} is in the way: it is a link`);
  const here = await localSide.kind(to);
  if (here !== "missing" && here !== wanted) throw new CopyError(`${to} is in the way: it is no ${wanted}`);
  if (info.isDirectory) await downloadDirectory(copying, from, { path: to, exists: here === "directory" });
  else await downloadFile(copying, { from, shown, to, name });
}

/** The other side need not be trusted with where its files go. */
function requireName(name: string): void {
  if (!isFileName(name)) {
    throw new CopyError(`the server tells of a file called ${JSON.stringify(name)}, which no file can be called`);
  }
}
