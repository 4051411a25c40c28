/**
 * The machine as views are made of it: all of it, but nothing in it leads to this process. Its threads other than the one
 * that enters views, its memory and its descriptors are what a file system of processes would give away.
 */

import { EACCES, ENOENT, ENOTDIR } from "../../../linux/errno.ts";
import { hasTableChanged } from "../../../linux/mount_table.ts";
import { fileSystemTypeOf, openForReading, PROC_SUPER_MAGIC } from "../../../linux/namespace_calls.ts";
import * as calls from "../../../linux/sandbox_calls.ts";
import { fromBytes, isAtOrBelow } from "../../../sandbox/byte_path.ts";
import { LaunchFailure, must } from "../../../sandbox/launcher/failure.ts";
import { Tree } from "../../../sandbox/launcher/tree.ts";
import type { BytePath } from "../../../sandbox/policy.ts";

const PROCESSES = "/proc";

/** What of /proc is about the machine and not about processes, and of use to somebody who reads files. */
const MACHINE_FILES = [
  "cmdline",
  "cpuinfo",
  "devices",
  "diskstats",
  "filesystems",
  "loadavg",
  "meminfo",
  "modules",
  "partitions",
  "stat",
  "swaps",
  "sys",
  "uptime",
  "version",
  "vmstat",
].map((name): BytePath => `/${name}`);

const ATTRIBUTES = calls.MOUNT_NO_SETUID | calls.MOUNT_NO_DEVICES | calls.MOUNT_NO_EXEC;

/** Longest table of mounts that is read, in bytes: one of a hundred thousand mounts is shorter. */
const MAX_TABLE_BYTES = 64 * 1024 * 1024;

/** The mount namespace that the calling thread is in, kept free of processes. */
export class MachineView {
  /** Says what is mounted, and when that has changed. */
  readonly #table: number;

  /** @throws {LaunchFailure} If it cannot be made so. */
  constructor() {
    this.#table = must("open mountinfo", openForReading("/proc/thread-self/mountinfo"));
    replaceProcesses();
    this.refresh();
  }

  /** Whether something was mounted or unmounted since the last {@linkcode refresh}, by whoever. */
  get hasChanged(): boolean {
    const result = hasTableChanged(this.#table);
    return typeof result === "number" ? must("ppoll mountinfo", result) !== 0 : result;
  }

  /** Covers what leads to processes again. The calling thread must be in this namespace. */
  refresh(): void {
    // What is asked first is what happens until then; a change of our own is looked at once more.
    let covered: number;
    do {
      void this.hasChanged;
      covered = 0;
      for (const place of processMounts(this.#read())) if (coverIfProcesses(place)) covered++;
    } while (covered > 0);
  }

  #read(): string {
    let bytes = new Uint8Array(new ArrayBuffer(64 * 1024));
    for (let length = 0;;) {
      if (length === bytes.length) {
        if (length >= MAX_TABLE_BYTES) throw new LaunchFailure("too much is mounted on this machine");
        const larger = new Uint8Array(new ArrayBuffer(2 * length));
        larger.set(bytes);
        bytes = larger;
      }
      const count = must("pread64 mountinfo", calls.pread(this.#table, bytes.subarray(length), length));
      if (count === 0) return fromBytes(bytes.subarray(0, length));
      length += count;
    }
  }
}

/**
 * Where file systems of processes are mounted, other than at /proc and below it.
 *
 * @param table As `/proc/PID/mountinfo` has it.
 */
export function processMounts(table: string): BytePath[] {
  const places = new Set<BytePath>();
  for (const line of table.split("\n")) {
    const [fields = "", type = ""] = line.split(" - ");
    const place = fields.split(" ")[4];
    if (place === undefined || type.split(" ")[0] !== "proc") continue;
    const path = place.replaceAll(/\\([0-7]{3})/g, (_, digits) => String.fromCharCode(parseInt(digits, 8)));
    if (!isAtOrBelow(path, PROCESSES)) places.add(path);
  }
  return [...places];
}

/** A directory in memory takes the place of /proc, with those files of it that are about the machine. */
function replaceProcesses(): void {
  const machine = Tree.open("/");
  const old = Tree.open(PROCESSES);
  const files = MACHINE_FILES.flatMap((path) => {
    const found = calls.openWithoutLinks(old.fd, calls.cBytes(path.slice(1)), calls.O_PATH);
    if (found === -ENOENT) return [];
    const mount = must(`open_tree /proc${path}`, calls.cloneTree(must(`openat2 /proc${path}`, found)));
    calls.close(found);
    return [{ path, mount }];
  });
  const fresh = must("fsmount tmpfs /proc", calls.newMount("tmpfs", { mode: "555" }, ATTRIBUTES));
  must("move_mount /proc", calls.attach(fresh, old.fd));
  const view = new Tree(fresh);
  for (const { path, mount } of files) {
    view.makeMountPoint(path, new Tree(mount).isDirectory());
    const target = view.find(path);
    must(`move_mount /proc${path}`, calls.attach(mount, target));
    calls.close(target);
    calls.close(mount);
  }
  must("mount_setattr /proc", calls.setMountAttributes(fresh, ATTRIBUTES | calls.MOUNT_READ_ONLY, { recursive: true }));
  must("mount_setattr /proc private", calls.makeMountsPrivate(calls.cBytes(PROCESSES)));
  for (const fd of [fresh, old.fd, machine.fd]) calls.close(fd);
}

/** Where nothing is, or what even we may not look at, nobody gets to. */
const OUT_OF_REACH = [-ENOENT, -ENOTDIR, -EACCES];

/** Whether it was covered: what a path leads to by now can be something else, or nothing. */
function coverIfProcesses(place: BytePath): boolean {
  const found = calls.openWithoutLinks(calls.AT_FDCWD, calls.cBytes(place), calls.O_PATH);
  if (OUT_OF_REACH.includes(found)) return false;
  must(`openat2 ${place}`, found);
  if (must(`fstatfs ${place}`, fileSystemTypeOf(found)) !== PROC_SUPER_MAGIC) {
    calls.close(found);
    return false;
  }
  const cover = new Tree(found).isDirectory() ? emptyDirectory(place) : closedFile();
  must(`move_mount ${place}`, calls.attach(cover, found));
  for (const fd of [cover, found]) calls.close(fd);
  return true;
}

function emptyDirectory(place: BytePath): number {
  const attributes = ATTRIBUTES | calls.MOUNT_READ_ONLY;
  return must(`fsmount tmpfs ${place}`, calls.newMount("tmpfs", { mode: "555" }, attributes));
}

/** A device where devices cannot be opened. */
function closedFile(): number {
  const device = must(
    "openat2 /dev/null",
    calls.openWithoutLinks(calls.AT_FDCWD, calls.cBytes("/dev/null"), calls.O_PATH),
  );
  const mount = must("open_tree /dev/null", calls.cloneTree(device));
  calls.close(device);
  const attributes = ATTRIBUTES | calls.MOUNT_READ_ONLY;
  must("mount_setattr /dev/null", calls.setMountAttributes(mount, attributes, { recursive: true }));
  return mount;
}
