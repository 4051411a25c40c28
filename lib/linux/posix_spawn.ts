import * as libc from "./libc.ts";
import type { CStringArray } from "./cstring.ts";

/** What posix_spawn() is given; strings end with a NUL. */
export interface SpawnRequest {
  /** Program file; a relative path is taken from `directory`. */
  readonly path: libc.Bytes;
  readonly argv: CStringArray;
  readonly env: CStringArray;
  readonly directory: libc.Bytes;
  /** Where the child's descriptors 0, 1, 2, 3 … come from. */
  readonly descriptors: readonly DescriptorSource[];
}

/**
 * An open descriptor of ours, or a file that the child opens itself, by then a session leader. 0, 1 and 2 are the child's
 * that stand earlier in the list.
 */
export type DescriptorSource = number | { readonly path: libc.Bytes; readonly flags: number };

/** Sizes with room to spare: glibc has 336 and 80 bytes. */
const ATTRIBUTES_SIZE = 512;
const FILE_ACTIONS_SIZE = 256;
const SIGNAL_SET_SIZE = 128;

/** The numbers 0, 1 and 2. */
const STANDARD_DESCRIPTORS = 3;

const POSIX_SPAWN_SETSIGDEF = 0x04;
const POSIX_SPAWN_SETSIGMASK = 0x08;
const POSIX_SPAWN_SETSID = 0x80;

/** Null where glibc is too old for them. */
const { posix_spawn_file_actions_addchdir_np: addChdir, posix_spawn_file_actions_addclosefrom_np: addCloseFrom } =
  libc.symbols;

/** Without closefrom, what we inherited ourselves and know nothing of would reach every child. */
if (addCloseFrom === null) closeInheritedOnExec();

const attributes = spawnAttributes();

/**
 * Starts a program as the leader of a new session and process group, with the default action for every signal and none
 * blocked. Takes 0.75 to 0.9 ms however large we are, since glibc does it with a vfork.
 *
 * @returns The process id, or the negated error number of the first step that failed: also chdir's and exec's.
 */
export function posixSpawn(request: SpawnRequest): number {
  const actions = new Uint8Array(new ArrayBuffer(FILE_ACTIONS_SIZE));
  const failure = libc.symbols.posix_spawn_file_actions_init(actions);
  if (failure !== 0) return -failure;
  const moved: number[] = [];
  try {
    const descriptors = outOfTheWay(request.descriptors, (fd) => moved.push(fd));
    if (typeof descriptors === "number") return descriptors;
    const incomplete = addFileActions(actions, { ...request, descriptors });
    if (incomplete !== 0) return -incomplete;
    const spawn = (): number => {
      const pid = new Int32Array(1);
      const { path, argv, env } = request;
      const error = libc.symbols.posix_spawn(
        libc.bytesOf(pid),
        path,
        actions,
        attributes,
        argv.pointers,
        env.pointers,
      );
      return error === 0 ? pid[0]! : -error;
    };
    return addChdir === null ? inDirectory(request.directory, spawn) : spawn();
  } finally {
    for (const fd of moved) libc.close(fd);
    libc.symbols.posix_spawn_file_actions_destroy(actions);
  }
}

/**
 * The child's numbers are given out one after the other, so that one of ours which is among them could be gone when its
 * turn comes. Such are given another number for the time of the start.
 *
 * @param close Closes a descriptor of ours afterwards.
 * @returns A negated error number if there is no descriptor left.
 */
function outOfTheWay(
  descriptors: readonly DescriptorSource[],
  close: (fd: number) => void,
): readonly DescriptorSource[] | number {
  const moved = [...descriptors];
  for (const [target, source] of descriptors.entries()) {
    if (typeof source !== "number" || source < STANDARD_DESCRIPTORS || source >= target) continue;
    const free = libc.duplicate(source, descriptors.length);
    if (free < 0) return free;
    close(free);
    moved[target] = free;
  }
  return moved;
}

/** @returns 0 or an error number. */
function addFileActions(actions: libc.Bytes, { descriptors, directory }: SpawnRequest): number {
  let error = 0;
  descriptors.forEach((source, target) => {
    if (error !== 0) return;
    error = typeof source === "number"
      ? libc.symbols.posix_spawn_file_actions_adddup2(actions, source, target)
      : libc.symbols.posix_spawn_file_actions_addopen(actions, target, source.path, source.flags, 0);
  });
  if (error === 0 && addChdir !== null) error = addChdir(actions, directory);
  if (error === 0 && addCloseFrom !== null) error = addCloseFrom(actions, descriptors.length);
  return error;
}

function spawnAttributes(): libc.Bytes {
  const result = new Uint8Array(new ArrayBuffer(ATTRIBUTES_SIZE));
  const none = new Uint8Array(new ArrayBuffer(SIGNAL_SET_SIZE));
  // Every bit, and not sigfillset(): that spares two signals of glibc's own, which would then stay ignored.
  const all = new Uint8Array(new ArrayBuffer(SIGNAL_SET_SIZE)).fill(0xff);
  libc.symbols.posix_spawnattr_init(result);
  libc.symbols.posix_spawnattr_setsigmask(result, none);
  libc.symbols.posix_spawnattr_setsigdefault(result, all);
  libc.symbols.posix_spawnattr_setflags(
    result,
    POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF,
  );
  return result;
}

/**
 * Does something with another working directory: glibc before 2.29 cannot change it in the child. For that millisecond
 * relative paths of our other threads would go astray; the server uses none.
 *
 * @returns What `act` returned, or the negated error number of chdir().
 */
export function inDirectory(directory: libc.Bytes, act: () => number): number {
  const here = libc.open(CURRENT_DIRECTORY, libc.O_RDONLY | libc.O_DIRECTORY | libc.O_CLOEXEC);
  if (here < 0) return here;
  try {
    const moved = libc.changeDirectory(directory);
    if (moved < 0) return moved;
    try {
      return act();
    } finally {
      libc.changeDirectoryTo(here);
    }
  } finally {
    libc.close(here);
  }
}

const CURRENT_DIRECTORY = new Uint8Array([0x2e, 0]);

/** Marks everything beyond stderr that is open now; whatever we open ourselves is marked from its beginning. */
export function closeInheritedOnExec(): void {
  for (const { name } of Deno.readDirSync("/proc/self/fd")) {
    const fd = Number(name);
    if (fd > 2) libc.setCloseOnExec(fd);
  }
}
