import type { Copying } from "./copying.ts";
import { downloadByWalking } from "./download_walk.ts";
import { packThere } from "./far_tar.ts";
import { localSide } from "./local_side.ts";
import { hasLocalTar, LocalTar } from "./local_tar.ts";
import { partialName, randomKey, removeIfThere } from "./partial_file.ts";
import { childUri } from "./remote_path.ts";
import { CopyError, type Target } from "./target.ts";
import { lookedThrough } from "./tree_stream.ts";
import { removeRemote } from "./upload_file.ts";

/**
 * Copies what is in a directory of the environment to this machine, as {@linkcode uploadTree} does the other way round.
 *
 * @param from A URI.
 * @param name The last component of the target.
 */
export async function downloadTree(copying: Copying, from: string, to: Target, name: string): Promise<void> {
  const { far, programs, progress, signal } = copying;
  progress.begin(far.shown(from));
  const directory = programs.path(from);
  if (directory === undefined || !await hasLocalTar() || !await programs.canArchive(signal)) {
    return await downloadByWalking(copying, from, to);
  }
  await using scope = new AsyncDisposableStack();
  const makeThere = async (): Promise<string> => {
    const { tempDir } = far.info;
    if (tempDir === null) throw new CopyError("the server does not tell of a directory for temporary files");
    const staging = childUri(tempDir, partialName("tree", randomKey()));
    if (!await programs.makePrivateDirectory(staging, signal)) {
      throw new CopyError("there is no mkdir on the other side");
    }
    scope.defer(() => removeRemote(copying, staging, { recursive: true }));
    return staging;
  };
  let into = to.path;
  if (!to.exists) {
    const staging = localSide.child(localSide.parent(to.path), partialName(name, randomKey()));
    await Deno.mkdir(staging, { mode: 0o700 });
    scope.defer(() => removeIfThere(staging, { recursive: true }));
    into = localSide.child(staging, "tree");
    await Deno.mkdir(into);
  }
  const tar = scope.use(LocalTar.unpack(into));
  for await (const part of lookedThrough(copying, packThere(copying, directory, makeThere))) await tar.write(part);
  await tar.finish();
  if (!to.exists) await Deno.rename(into, to.path);
}
