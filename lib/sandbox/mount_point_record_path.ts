/** Where the record of placeholders lies; needs nothing of the system's library, so that every start can look there. */

const OTHERS = 0o077;

/**
 * The path of the record, the same for all servers of one user. Nothing is looked at but whether there is a directory of
 * his for things of this session.
 *
 * @param runtimeDirectory XDG_RUNTIME_DIR, whose absence means that of systemd.
 */
export function recordPath(runtimeDirectory: string | undefined, uid: number): string {
  const [usual, last] = sharedDirectories(uid);
  if (runtimeDirectory?.startsWith("/") && isPrivate(runtimeDirectory, uid)) {
    return `${runtimeDirectory}/exec-server/mount-points`;
  }
  return `${isPrivate(`/run/user/${uid}`, uid) ? usual : last}/mount-points`;
}

/** Where the servers of a user keep what they share, as long as no environment names another place. */
export function sharedDirectories(uid: number): readonly [usual: string, last: string] {
  return [`/run/user/${uid}/exec-server`, `/tmp/exec-server-${uid}`];
}

function isPrivate(path: string, uid: number): boolean {
  try {
    const { isDirectory, uid: owner, mode } = Deno.statSync(path);
    return isDirectory && owner === uid && ((mode ?? OTHERS) & OTHERS) === 0;
  } catch (error) {
    // There is none, or it is nothing for us; a variable may say what it likes.
    if (error instanceof Error) return false;
    throw error;
  }
}

/**
 * Whether servers have left something there, or live. Then what killed ones have left should be cleaned up, for which
 * `mount_points.ts` has to be loaded.
 */
export function isRecordInUse(path: string): boolean {
  try {
    return Deno.readDirSync(path).some(({ name }) => name.endsWith(".lock"));
  } catch (error) {
    // There is none, or it is not ours: whoever needs it will be told.
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied) return false;
    throw error;
  }
}
