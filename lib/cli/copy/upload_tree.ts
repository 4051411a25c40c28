import type { Copying } from "./copying.ts";
import { unpackThere } from "./far_tar.ts";
import { hasLocalTar, LocalTar } from "./local_tar.ts";
import { partialName, randomKey } from "./partial_file.ts";
import { childUri, nameOf, parentUri } from "./remote_path.ts";
import { OWNER_ALL } from "./local_directory.ts";
import { CopyError, type Target } from "./target.ts";
import { lookedThrough } from "./tree_stream.ts";
import { removeRemote } from "./upload_file.ts";
import { uploadByWalking } from "./upload_walk.ts";

/** Permission bits that a copy keeps. */
const WITHOUT_SET_ID = 0o1777;

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
  try {
    await programs.makePrivateDirectory(staging, signal);
    let into = to.path;
    if (!to.exists) {
      into = childUri(staging, "tree");
      await far.environment.files.mkdir(into, { signal });
    }
    await using tar = LocalTar.pack(from);
    const archive = lookedThrough(copying, tar.archive, { withoutRoot: to.exists });
    await unpackThere(copying, archive, programs.path(into)!, staging);
    report.complain(await tar.packed());
    if (!to.exists) await moveThere(copying, into, to.path, (await Deno.stat(from)).mode);
  } finally {
    await removeRemote(copying, staging, { recursive: true });
  }
}

/** @param mode Of what is moved; null: this system has none. Only directories that may be written to can be moved. */
async function moveThere({ far, programs, signal }: Copying, from: string, to: string, mode: number | null) {
  const isLocked = mode !== null && Deno.build.os !== "windows" && (mode & OWNER_ALL) !== OWNER_ALL;
  if (isLocked) await programs.setMode(from, mode & WITHOUT_SET_ID | OWNER_ALL, signal);
  if (!await programs.rename(from, to, signal)) {
    throw new CopyError(`${far.shown(to)} cannot be put in place: there is no mv`);
  }
  if (isLocked) await programs.setMode(to, mode & WITHOUT_SET_ID, signal);
}
