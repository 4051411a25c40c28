import type { Input } from "../command.ts";
import type { Copying } from "./copying.ts";
import type { LocalPlace, StreamPlace } from "./copy_operands.ts";
import { localName, localSide } from "./local_side.ts";
import { saysContents, saysDirectory } from "./place.ts";
import { chooseTarget, CopyError, type Source, type Target } from "./target.ts";
import { readBlocks, uploadFile, type UploadSource } from "./upload_file.ts";
import { uploadTree } from "./upload_tree.ts";
import { modeBits } from "./upload_walk.ts";
import { naming } from "./naming.ts";

export interface UploadOptions {
  /** There are other sources, so the target has to be a directory. */
  readonly many: boolean;
  readonly stdin: Pick<Input, "read">;
}

/** Copies one source of the command line to the environment. */
export async function upload(
  copying: Copying,
  source: StreamPlace | LocalPlace,
  targetPath: string,
  { many, stdin }: UploadOptions,
): Promise<void> {
  const { far } = copying;
  const uri = far.uri(targetPath);
  const wanted = many || saysDirectory(targetPath);
  const goal = async (from: Source): Promise<Target> => {
    const found = await naming(far.shown(uri), () => chooseTarget(far, uri, wanted, from));
    // A link stays a link: what it leads to is replaced.
    return found.exists ? { ...found, path: await far.environment.files.realPath(found.path) } : found;
  };
  if (source.side === "stream") {
    const from: Source = { isDirectory: false, name: undefined, contentsOnly: false, shown: "standard input" };
    const to = await goal(from);
    const pieces = { shown: from.shown, size: undefined, mode: undefined, read: () => stdin.read() };
    return await naming(far.shown(to.path), () => uploadFile(copying, pieces, to.path, to.exists));
  }
  const { path } = source;
  const info = await Deno.stat(path);
  const contentsOnly = info.isDirectory && saysContents(path);
  if (!info.isDirectory && saysDirectory(path)) throw new CopyError(`${path} is not a directory`);
  const from: Source = { isDirectory: info.isDirectory, name: await localName(path), contentsOnly, shown: path };
  const to = await goal(from);
  if (info.isDirectory) return await naming(far.shown(to.path), () => uploadTree(copying, path, to));
  using file = await Deno.open(path);
  // Pipes such as the shell's <(…) have neither a size nor bits worth keeping.
  // Files of /proc and the like say that they are empty, and are not.
  const size = info.isFile && info.size > 0 ? info.size : undefined;
  const mode = info.isFile ? modeBits(info) : undefined;
  const pieces: UploadSource = { shown: localSide.shown(path), size, mode, read: readBlocks(file, size) };
  await naming(far.shown(to.path), () => uploadFile(copying, pieces, to.path, to.exists));
  if (info.isFile && isChanged(info, await file.stat())) {
    copying.report.add("changed", path, "changed while it was copied, so the copy may mix old and new");
  }
}

function isChanged(before: Deno.FileInfo, after: Deno.FileInfo): boolean {
  return before.size !== after.size || before.mtime?.getTime() !== after.mtime?.getTime();
}
