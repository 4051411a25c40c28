import type { Copying } from "./copying.ts";
import { unpackThere } from "./far_tar.ts";
import { hasLocalTar, LocalTar } from "./local_tar.ts";
import { partialName, randomKey } from "./partial_file.ts";
import { childUri, nameOf, parentUri } from "./remote_path.ts";
import { CopyError, type Target } from "./target.ts";
import { lookedThrough } from "./tree_stream.ts";
import { removeRemote } from "./upload_file.ts";
import { uploadByWalking } from "./upload_walk.ts";

/**
 * Copies what is in a directory to the environment: as one archive where both sides have tar, else file by file. A new
 * directory appears when it is whole; one that exists is added to as the entries come.
 *
 * @param from A local directory.
 * @param to A URI.
 */
export async function uploadTree(copying: Copying, from: string, to: Target): Promise<void> {
  const { far, programs, progress, report, signal } = copying;
  progress.begin(from);
  if (programs.path(to.path) === undefined || !await hasLocalTar() || !await programs.canArchive(signal)) {
    return await uploadByWalking(copying, from, to);
  }
  const name = partialName(nameOf(to.path) ?? "tree", randomKey());
  const staging = childUri(to.exists ? to.path : parentUri(to.path), name);
  await programs.makePrivateDirectory(staging, signal);
  try {
    let into = to.path;
    if (!to.exists) {
      into = childUri(staging, "tree");
      await far.environment.files.mkdir(into, { signal });
    }
    await using tar = LocalTar.pack(from);
    await unpackThere(copying, lookedThrough(copying, tar.archive), programs.path(into)!, staging);
    report.complain(await tar.packed());
    if (!to.exists && !await programs.rename(into, to.path, signal)) {
      throw new CopyError(`${far.shown(to.path)} cannot be put in place: there is no mv`);
    }
  } finally {
    await removeRemote(copying, staging, { recursive: true });
  }
}
