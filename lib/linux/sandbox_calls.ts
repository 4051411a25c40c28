/**
 * The system calls that build a sandbox around the calling thread and start a program in its place. One function of the C
 * library serves them all, since each that is opened costs a third of a millisecond of a launch. Results are the kernel's:
 * a number, or the negated error number.
 *
 * Paths end with a NUL. Buffers must be of their own `ArrayBuffer`.
 */

export type Bytes = Uint8Array<ArrayBuffer>;
type Argument = number | bigint | Bytes;

const { symbols } = Deno.dlopen(
  "libc.so.6",
  {
    syscall: { parameters: ["i64", "i64", "i64", "i64", "i64", "i64", "i64"], result: "i64" },
    __errno_location: { parameters: [], result: "pointer" },
  } as const,
);

const errnoLocation = symbols.__errno_location();
if (errnoLocation === null) throw new Error("the C library has no errno");
const errno = new Deno.UnsafePointerView(errnoLocation);

/** Linux gives calls that are newer than 2019 one number on all machines. */
const NUMBERS = Deno.build.arch === "aarch64"
  ? {
    capget: 90,
    capset: 91,
    chdir: 49,
    close: 57,
    execve: 221,
    exit_group: 94,
    fchdir: 50,
    fcntl: 25,
    memfd_create: 279,
    mkdirat: 34,
    pivot_root: 41,
    prctl: 167,
    pread64: 67,
    readlinkat: 78,
    rt_sigaction: 134,
    rt_sigprocmask: 135,
    symlinkat: 36,
    umask: 166,
    umount2: 39,
    write: 64,
  }
  : {
    capget: 125,
    capset: 126,
    chdir: 80,
    close: 3,
    execve: 59,
    exit_group: 231,
    fchdir: 81,
    fcntl: 72,
    memfd_create: 319,
    mkdirat: 258,
    pivot_root: 155,
    prctl: 157,
    pread64: 17,
    readlinkat: 267,
    rt_sigaction: 13,
    rt_sigprocmask: 14,
    symlinkat: 266,
    umask: 95,
    umount2: 166,
    write: 1,
  };

const OPEN_TREE = 428;
const MOVE_MOUNT = 429;
const FSOPEN = 430;
const FSCONFIG = 431;
const FSMOUNT = 432;
const CLOSE_RANGE = 436;
const OPENAT2 = 437;
const MOUNT_SETATTR = 442;
const LANDLOCK_CREATE_RULESET = 444;
const LANDLOCK_ADD_RULE = 445;
const LANDLOCK_RESTRICT_SELF = 446;

/** Keeps buffers from being collected while the kernel has only their address. */
const pinned: { now: readonly Argument[] } = { now: [] };

function systemCall(number: number, ...args: readonly Argument[]): number {
  pinned.now = args;
  const [a = 0n, b = 0n, c = 0n, d = 0n, e = 0n, f = 0n] = args.map((value) =>
    value instanceof Uint8Array ? addressOf(value) : BigInt(value)
  );
  const result = symbols.syscall(BigInt(number), a, b, c, d, e, f);
  const outcome = result < 0n ? -errno.getInt32() : Number(result);
  pinned.now = [];
  return outcome;
}

function addressOf(bytes: Bytes): bigint {
  return Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes));
}

function bytesOf(view: ArrayBufferView<ArrayBuffer>): Bytes {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/**
 * Each code unit as one byte, in a buffer whose address is good for C: short arrays that are made without one lie where
 * the collector moves things.
 */
export function rawBytes(text: string): Bytes {
  const bytes = new Uint8Array(new ArrayBuffer(text.length));
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** The same with a NUL at the end. There must be none inside: C would stop there. */
export function cBytes(text: string): Bytes {
  return rawBytes(`${text}\0`);
}

const EMPTY = cBytes("");

export const AT_FDCWD = -100;
const AT_EMPTY_PATH = 0x1000;
const AT_RECURSIVE = 0x8000;

// Files.

export const O_WRONLY = 1;
export const O_CREAT = 0o100;
export const O_EXCL = 0o200;
export const O_DIRECTORY = Deno.build.arch === "aarch64" ? 0o40000 : 0o200000;
export const O_PATH = 0o10000000;
const O_CLOEXEC = 0o2000000;
const RESOLVE_NO_MAGICLINKS = 0x02n;
const RESOLVE_NO_SYMLINKS = 0x04n;

/** Opens a path that no symbolic link may be part of: -ELOOP where one is. Linux 5.6. */
export function openWithoutLinks(at: number, path: Bytes, flags: number, mode = 0): number {
  const how = new BigUint64Array([
    BigInt(flags | O_CLOEXEC),
    BigInt(mode),
    RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
  ]);
  return systemCall(OPENAT2, at, path, bytesOf(how), how.byteLength);
}

export function close(fd: number): void {
  systemCall(NUMBERS.close, fd);
}

/** Reads where the file begins plus `offset`; 0 is the end. */
export function pread(fd: number, buffer: Bytes, offset: number): number {
  return systemCall(NUMBERS.pread64, fd, buffer, buffer.length, offset);
}

export function write(fd: number, buffer: Bytes): number {
  return systemCall(NUMBERS.write, fd, buffer, buffer.length);
}

export function makeDirectory(at: number, path: Bytes, mode: number): number {
  return systemCall(NUMBERS.mkdirat, at, path, mode);
}

export function makeSymlink(target: Bytes, at: number, path: Bytes): number {
  return systemCall(NUMBERS.symlinkat, target, at, path);
}

/** The target's bytes are put into `buffer`, without a NUL; their number, which is cut to the buffer's length. */
export function readLink(path: Bytes, buffer: Bytes): number {
  return systemCall(NUMBERS.readlinkat, AT_FDCWD, path, buffer, buffer.length);
}

export function changeDirectory(path: Bytes): number {
  return systemCall(NUMBERS.chdir, path);
}

export function changeDirectoryTo(fd: number): number {
  return systemCall(NUMBERS.fchdir, fd);
}

/** What is taken away from the mode of every new file; the mask until now. */
export function setFileModeMask(mask: number): number {
  return systemCall(NUMBERS.umask, mask);
}

const CLOSE_RANGE_CLOEXEC = 4;

/** What is open from this number on does not reach the program that comes in our place. Linux 5.11. */
export function closeOnExecFrom(fd: number): number {
  return systemCall(CLOSE_RANGE, fd, 0xffffffff, CLOSE_RANGE_CLOEXEC);
}

const MFD_CLOEXEC = 1;
const MFD_ALLOW_SEALING = 2;
const F_ADD_SEALS = 1033;
const F_GET_SEALS = 1034;
const F_SEAL_SEAL = 1;
const F_SEAL_SHRINK = 2;
const F_SEAL_GROW = 4;
const F_SEAL_WRITE = 8;
/** Nothing about the file can change any more. */
export const ALL_SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

/** A file in memory that can be sealed. */
export function sealableFile(name: Bytes): number {
  return systemCall(NUMBERS.memfd_create, name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

export function seal(fd: number): number {
  return systemCall(NUMBERS.fcntl, fd, F_ADD_SEALS, ALL_SEALS);
}

/** -EINVAL for what is no file in memory. */
export function sealsOf(fd: number): number {
  return systemCall(NUMBERS.fcntl, fd, F_GET_SEALS);
}

// Mounts, by the calls that take descriptors: no path is looked up twice, and attributes are set before anyone sees the mount.

export const MOUNT_READ_ONLY = 0x1;
export const MOUNT_NO_SETUID = 0x2;
export const MOUNT_NO_DEVICES = 0x4;
export const MOUNT_NO_EXEC = 0x8;

const OPEN_TREE_CLONE = 1;
const OPEN_TREE_CLOEXEC = O_CLOEXEC;

/** A copy of the mounts at and below what `fd` is open on, which stands nowhere yet. Linux 5.2, as all of these. */
export function cloneTree(fd: number): number {
  return systemCall(OPEN_TREE, fd, EMPTY, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
}

const MOVE_MOUNT_F_EMPTY_PATH = 0x4;
const MOVE_MOUNT_T_EMPTY_PATH = 0x40;

/** Puts a mount that stands nowhere onto the file or directory that `at` is open on. */
export function attach(mount: number, at: number): number {
  return systemCall(MOVE_MOUNT, mount, EMPTY, at, EMPTY, MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

const FSOPEN_CLOEXEC = 1;
const FSMOUNT_CLOEXEC = 1;
const FSCONFIG_SET_STRING = 1;
const FSCONFIG_CMD_CREATE = 6;

/** A mount of a new file system, which stands nowhere yet. */
export function newMount(type: string, options: Readonly<Record<string, string>>, attributes: number): number {
  const context = systemCall(FSOPEN, cBytes(type), FSOPEN_CLOEXEC);
  if (context < 0) return context;
  try {
    for (const [name, value] of Object.entries(options)) {
      const set = systemCall(FSCONFIG, context, FSCONFIG_SET_STRING, cBytes(name), cBytes(value), 0);
      if (set < 0) return set;
    }
    const created = systemCall(FSCONFIG, context, FSCONFIG_CMD_CREATE, 0, 0, 0);
    return created < 0 ? created : systemCall(FSMOUNT, context, FSMOUNT_CLOEXEC, attributes);
  } finally {
    close(context);
  }
}

/** Sets attributes of the mount whose root `fd` is open on. Linux 5.12. */
export function setMountAttributes(fd: number, attributes: number, { recursive }: { recursive: boolean }): number {
  const wanted = new BigUint64Array([BigInt(attributes), 0n, 0n, 0n]);
  const flags = AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0);
  return systemCall(MOUNT_SETATTR, fd, EMPTY, flags, bytesOf(wanted), wanted.byteLength);
}

const MS_PRIVATE = 0x40000n;

/** Cuts the mounts below `path` off from other namespaces: what is mounted in one does not show in the other. */
export function makeMountsPrivate(path: Bytes): number {
  const wanted = new BigUint64Array([0n, 0n, MS_PRIVATE, 0n]);
  return systemCall(MOUNT_SETATTR, AT_FDCWD, path, AT_RECURSIVE, bytesOf(wanted), wanted.byteLength);
}

/** Makes the working directory, which must be a mount, the root; the old root lies on top of it then. */
export function pivotRoot(): number {
  return systemCall(NUMBERS.pivot_root, cBytes("."), cBytes("."));
}

const MNT_DETACH = 2;

export function detachMount(path: Bytes): number {
  return systemCall(NUMBERS.umount2, path, MNT_DETACH);
}

// Privileges.

const PR_SET_PDEATHSIG = 1;
const PR_SET_SECCOMP = 22;
const PR_CAPBSET_DROP = 24;
const PR_SET_NO_NEW_PRIVS = 38;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_CLEAR_ALL = 4;
const SECCOMP_MODE_FILTER = 2;

/** The signal that this process gets when the thread that started it ends. */
export function setParentDeathSignal(signal: number): number {
  return systemCall(NUMBERS.prctl, PR_SET_PDEATHSIG, signal);
}

/** From now on no program gives us rights that we do not have, whatever its mode says. */
export function setNoNewPrivileges(): number {
  return systemCall(NUMBERS.prctl, PR_SET_NO_NEW_PRIVS, 1);
}

/** @param program Whole `struct sock_filter`s, eight bytes each. */
export function installFilter(program: Bytes): number {
  const header = new DataView(new ArrayBuffer(16));
  header.setUint16(0, program.length / 8, true);
  header.setBigUint64(8, addressOf(program), true);
  // The kernel reads no fifth argument here; it keeps the program in memory as long as its address is used.
  return systemCall(NUMBERS.prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, bytesOf(header), program);
}

export function clearAmbientCapabilities(): number {
  return systemCall(NUMBERS.prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL);
}

/** Takes a capability out of what programs can ever get; -EINVAL for a number that the kernel does not know. */
export function dropFromBoundingSet(capability: number): number {
  return systemCall(NUMBERS.prctl, PR_CAPBSET_DROP, capability);
}

const CAPABILITY_VERSION_3 = 0x20080522;

function capabilityHeader(): Bytes {
  return bytesOf(new Uint32Array([CAPABILITY_VERSION_3, 0]));
}

/** Gives up every capability of this thread. */
export function dropCapabilities(): number {
  return systemCall(NUMBERS.capset, capabilityHeader(), bytesOf(new Uint32Array(6)));
}

/** Whether this thread has any capability, used, allowed or to be inherited; or a negated error number. */
export function hasCapabilities(): boolean | number {
  const sets = new Uint32Array(6);
  const result = systemCall(NUMBERS.capget, capabilityHeader(), bytesOf(sets));
  return result < 0 ? result : sets.some((bits) => bits !== 0);
}

// Landlock.

const LANDLOCK_CREATE_RULESET_VERSION = 1;
const LANDLOCK_RULE_PATH_BENEATH = 1;

/** What the kernel's Landlock can do, as a number from 1; -ENOSYS or -EOPNOTSUPP without it. */
export function landlockVersion(): number {
  return systemCall(LANDLOCK_CREATE_RULESET, 0, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

/** Everything that a set of rules forbids where no rule allows it: file rights, network rights, what is scoped. */
export function createRuleset(files: bigint, network: bigint, scoped: bigint): number {
  const attributes = new BigUint64Array([files, network, scoped]);
  return systemCall(LANDLOCK_CREATE_RULESET, bytesOf(attributes), attributes.byteLength, 0);
}

/** @param file Open on what the rights are for: a file, or a directory with all below it. */
export function allowBeneath(ruleset: number, rights: bigint, file: number): number {
  const rule = new DataView(new ArrayBuffer(12));
  rule.setBigUint64(0, rights, true);
  rule.setInt32(8, file, true);
  return systemCall(LANDLOCK_ADD_RULE, ruleset, LANDLOCK_RULE_PATH_BENEATH, bytesOf(rule), 0);
}

/** Puts this thread under the rules, and all that it starts. */
export function restrictSelf(ruleset: number): number {
  return systemCall(LANDLOCK_RESTRICT_SELF, ruleset, 0);
}

// The program.

const SIGNAL_SET_BYTES = 8;
const SIG_SETMASK = 2;

/** The action for a signal is the system's again: what is ignored stays so in the next program. */
export function useDefaultAction(signal: number): number {
  // `struct sigaction` of the kernel: handler, flags, restorer (not on arm64), mask.
  return systemCall(NUMBERS.rt_sigaction, signal, new Uint8Array(new ArrayBuffer(32)), 0, SIGNAL_SET_BYTES);
}

export function unblockAllSignals(): number {
  return systemCall(
    NUMBERS.rt_sigprocmask,
    SIG_SETMASK,
    new Uint8Array(new ArrayBuffer(SIGNAL_SET_BYTES)),
    0,
    SIGNAL_SET_BYTES,
  );
}

/** A `char *[]`, ended by a null pointer, with the strings that it points to behind it: one buffer, which lives as one. */
export interface Strings {
  readonly block: Bytes;
}

const POINTER_BYTES = 8;

/** @param texts Each code unit is a byte. */
export function cStrings(texts: readonly string[]): Strings {
  const tableBytes = (texts.length + 1) * POINTER_BYTES;
  const strings = cBytes(texts.map((text) => `${text}\0`).join(""));
  const block = new Uint8Array(new ArrayBuffer(tableBytes + strings.length));
  block.set(strings, tableBytes);
  const table = new BigUint64Array(block.buffer, 0, texts.length);
  let address = addressOf(block) + BigInt(tableBytes);
  texts.forEach((text, index) => {
    table[index] = address;
    address += BigInt(text.length + 1);
  });
  return { block };
}

/** Runs a program in place of this one; returns only with a failure, a negated error number. */
export function execute(path: Bytes, argv: Strings, env: Strings): number {
  return systemCall(NUMBERS.execve, path, argv.block, env.block);
}

/** Ends the process with all its threads at once, and without anything that would have to be read. */
export function endProcess(code: number): never {
  systemCall(NUMBERS.exit_group, code);
  throw new Error("the process did not end");
}
