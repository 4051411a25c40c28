import type { Copying } from "./copying.ts";
import { downloadByWalking } from "./download_walk.ts";
import { packThere } from "./far_tar.ts";
import { localSide } from "./local_side.ts";
import { addLocally, LocalTar, localTar } from "./local_tar.ts";
import { moveDirectory, removeTree } from "./local_directory.ts";
import { partialName, randomKey } from "./partial_file.ts";
import { childUri } from "./remote_path.ts";
import { CopyError, type Target } from "./target.ts";
import { lookedThrough } from "./tree_stream.ts";
import { removeRemote } from "./upload_file.ts";

/**
 * Copies what is in a directory of the environment to this machine: as one archive where both sides have tar, else file by
 * file. Everything comes into a new directory first. So what is here already cannot lead an archive astray: a link, of an
 * earlier copy perhaps, to somewhere outside.
 *
 * @param from A URI.
 * @param name The last component of the target.
 */
export async function downloadTree(copying: Copying, from: string, to: Target, name: string): Promise<void> {
  const { far, programs, progress, report, signal } = copying;
  progress.begin(far.shown(from));
  const directory = programs.path(from);
  const tarHere = await localTar();
  const canUnpack = tarHere === "safe" || (tarHere === "followsLinks" && !to.exists);
  if (directory === undefined || !canUnpack || !await programs.canArchive(signal)) {
    return await downloadByWalking(copying, from, to);
  }
  await using scope = new AsyncDisposableStack();
  const makeThere = async (): Promise<string> => {
    const { tempDir } = far.info;
    if (tempDir === null) throw new CopyError("the server does not tell of a directory for temporary files");
    const staging = childUri(tempDir, partialName("tree", randomKey()));
    // An interruption can come when it is there already, and we do not know.
    scope.defer(() => removeRemote(copying, staging, { recursive: true }));
    if (!await programs.makePrivateDirectory(staging, signal)) {
      throw new CopyError("there is no mkdir on the other side");
    }
    return staging;
  };
  const staging = localSide.child(to.exists ? to.path : localSide.parent(to.path), partialName(name, randomKey()));
  await Deno.mkdir(staging, { mode: 0o700 });
  scope.defer(() => removeTree(staging));
  const tree = localSide.child(staging, "tree");
  await Deno.mkdir(tree);
  {
    await using tar = LocalTar.unpack(tree);
    const archive = packThere(copying, directory, makeThere);
    for await (const part of lookedThrough(copying, archive, { withoutRoot: to.exists })) await tar.write(part);
    await tar.finish();
  }
  if (to.exists) report.complain(await addLocally(tree, to.path, signal));
  else await moveDirectory(tree, to.path);
}
