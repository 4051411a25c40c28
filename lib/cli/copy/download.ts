import type { Output } from "../command.ts";
import type { Copying } from "./copying.ts";
import type { LocalPlace, StreamPlace } from "./copy_operands.ts";
import { downloadFile } from "./download_file.ts";
import { downloadTree } from "./download_tree.ts";
import { isFileName, isLink, localName, localSide } from "./local_side.ts";
import { naming } from "./naming.ts";
import { saysContents, saysDirectory } from "./place.ts";
import { nameOf } from "./remote_path.ts";
import { chooseTarget, CopyError, type Source } from "./target.ts";

export interface DownloadOptions {
  /** There are other sources, so the target has to be a directory. */
  readonly many: boolean;
  readonly stdout: Pick<Output, "write">;
}

/** Copies one source of the command line to this machine. */
export async function download(
  copying: Copying,
  sourcePath: string,
  target: StreamPlace | LocalPlace,
  { many, stdout }: DownloadOptions,
): Promise<void> {
  const { far, report } = copying;
  const uri = far.uri(sourcePath);
  const shown = far.shown(uri);
  const info = await naming(shown, () => far.environment.files.stat(uri, { signal: copying.signal }));
  if (!info.isDirectory && !info.isFile) throw new CopyError(`${shown} is neither a file nor a directory`);
  if (info.isFile && saysDirectory(sourcePath)) throw new CopyError(`${shown} is not a directory`);
  if (target.side === "stream") {
    if (info.isDirectory) throw new CopyError(`${shown} is a directory, and standard output takes a file`);
    await naming(shown, async () => {
      for await (const block of await far.environment.files.open(uri, { signal: copying.signal })) {
        await stdout.write(block);
        report.bytes += block.length;
      }
    });
    report.files++;
    return;
  }
  const source: Source = {
    isDirectory: info.isDirectory,
    name: safeName(nameOf(uri)),
    contentsOnly: info.isDirectory && saysContents(sourcePath),
    shown,
  };
  const wanted = many || saysDirectory(target.path);
  const to = await chooseTarget(localSide, target.path, wanted, source);
  // What is in a directory may be of an earlier copy, and lead to where nobody wants to be written.
  if (to.isInside && await isLink(to.path)) {
    const otherwise = info.isDirectory ? `copy ${shown}/. to it` : "name it as the target";
    throw new CopyError(`${to.path} is a link; remove it, or ${otherwise} if what it leads to is meant`);
  }
  // A link stays a link: what it leads to is replaced.
  const path = to.exists ? await Deno.realPath(to.path) : to.path;
  const name = await localName(path) ?? "copy";
  await naming(
    shown,
    () =>
      info.isDirectory
        ? downloadTree(copying, uri, { ...to, path }, name)
        : downloadFile(copying, { from: uri, shown, to: path, name }),
  );
}

/** The name is the server's where the user wrote none: as for `env:.` */
function safeName(name: string | undefined): string | undefined {
  return name !== undefined && isFileName(name) ? name : undefined;
}
