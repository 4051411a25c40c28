import type { Copying } from "./copying.ts";
import { localSide } from "./local_side.ts";
import { CopyError, type Target } from "./target.ts";
import { readBlocks, uploadFile } from "./upload_file.ts";
import { isFinal, LINK, NOT_UTF8, SPECIAL, WITHOUT_TAR, wordsOf } from "./walk_words.ts";

/** Copies a tree file by file, for where an archive cannot be had. What cannot be copied is reported and left out. */
export async function uploadByWalking(copying: Copying, from: string, to: Target): Promise<void> {
  copying.report.note(WITHOUT_TAR);
  await uploadDirectory(copying, from, to);
}

async function uploadDirectory(copying: Copying, from: string, to: Target): Promise<void> {
  const { far, report, signal } = copying;
  if (!to.exists) await far.environment.files.mkdir(to.path, { signal });
  report.directories++;
  const entries = await Array.fromAsync(Deno.readDir(from));
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name } of entries) {
    signal.throwIfAborted();
    const path = localSide.child(from, name);
    try {
      await uploadEntry(copying, path, far.child(to.path, name));
    } catch (error) {
      if (signal.aborted || isFinal(error)) throw error;
      report.add("left out", path, name.includes("\ufffd") ? NOT_UTF8 : wordsOf(error));
    }
  }
}

async function uploadEntry(copying: Copying, from: string, to: string): Promise<void> {
  const { far, report } = copying;
  const info = await Deno.lstat(from);
  if (info.isSymlink) return report.add("left out", from, LINK);
  if (!info.isFile && !info.isDirectory) return report.add("special", from, SPECIAL);
  const there = await far.kind(to);
  const wanted = info.isDirectory ? "directory" : "file";
  if (there !== "missing" && there !== wanted) {
    throw new CopyError(`${far.shown(to)} is in the way: it is no ${wanted}`);
  }
  if (info.isDirectory) return await uploadDirectory(copying, from, { path: to, exists: there === "directory" });
  using file = await Deno.open(from);
  const source = { shown: from, size: info.size, mode: modeBits(info), read: readBlocks(file, info.size || undefined) };
  await uploadFile(copying, source, to, there === "file");
}

/** Permission bits; undefined where the system has none. */
export function modeBits({ mode }: Deno.FileInfo): number | undefined {
  return mode === null || Deno.build.os === "windows" ? undefined : mode & 0o777;
}
