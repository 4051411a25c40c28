/** The parts of a view that are not the machine's: /dev, /proc, and the empty files that cover others. */

import * as calls from "../../linux/sandbox_calls.ts";
import { ENOENT } from "../../linux/errno.ts";
import { fromBytes } from "../byte_path.ts";
import type { Cover, Mount } from "../mount_plan.ts";
import type { BytePath } from "../policy.ts";
import { must } from "./failure.ts";
import { Tree } from "./tree.ts";

export const MODE_OF_DEVICES = 0o755;
const DEVICES = ["null", "zero", "full", "random", "urandom", "tty"];
const DEVICE_LINKS: readonly (readonly [BytePath, string])[] = [
  ["/fd", "/proc/self/fd"],
  ["/stdin", "/proc/self/fd/0"],
  ["/stdout", "/proc/self/fd/1"],
  ["/stderr", "/proc/self/fd/2"],
  ["/core", "/proc/kcore"],
  ["/ptmx", "pts/ptmx"],
];
const FRESH = calls.MOUNT_NO_SETUID | calls.MOUNT_NO_DEVICES;

/** What of /proc root may write without any capability, since it owns it, and what reaches beyond the sandbox. */
const SETTINGS = ["/sys", "/sysrq-trigger", "/irq", "/bus", "/acpi", "/scsi", "/fs", "/mtrr"];

/**
 * @param devices A new, empty directory in memory that stands in the view.
 * @param machine Where the devices themselves come from: in a user namespace none can be made.
 * @param terminal The machine's path of the terminal that we run on.
 */
export function fillDevices(devices: Tree, machine: Tree, terminal: BytePath | undefined): void {
  for (const name of DEVICES) bindDevice(devices, `/${name}`, machine, `/dev/${name}`);
  for (const [path, target] of DEVICE_LINKS) devices.makeLink(path, target);
  mountNew(devices, "/shm", "tmpfs", { mode: "1777" }, FRESH);
  mountNew(devices, "/pts", "devpts", { ptmxmode: "0666", mode: "620" }, calls.MOUNT_NO_SETUID | calls.MOUNT_NO_EXEC);
  // The names of the machine's terminals mean nothing here, but programs ask for the name of the one they are on.
  if (terminal !== undefined) bindDevice(devices, "/console", machine, terminal);
}

function bindDevice(devices: Tree, path: BytePath, machine: Tree, source: BytePath): void {
  const file = machine.find(source);
  const mount = must(`open_tree ${source}`, calls.cloneTree(file));
  calls.close(file);
  const attributes = calls.MOUNT_NO_SETUID | calls.MOUNT_NO_EXEC;
  must(`mount_setattr ${source}`, calls.setMountAttributes(mount, attributes, { recursive: false }));
  devices.makeFile(path, 0o644);
  attach(devices, path, mount);
}

function mountNew(
  devices: Tree,
  path: BytePath,
  type: string,
  options: Readonly<Record<string, string>>,
  attributes: number,
): void {
  devices.makeDirectories(path);
  attach(devices, path, must(`fsmount ${type}`, calls.newMount(type, options, attributes)));
}

function attach(tree: Tree, path: BytePath, mount: number): void {
  const target = tree.find(path);
  must(`move_mount ${path}`, calls.attach(mount, target));
  calls.close(target);
  calls.close(mount);
}

/**
 * No user namespace can be made any more, so that nobody gets capabilities in one of his own; and the machine's
 * settings can be read only.
 *
 * @param processes A new /proc that stands in the view.
 */
export function fillProcesses(processes: Tree): void {
  const limit = "/sys/user/max_user_namespaces";
  const file = must(
    `openat2 /proc${limit}`,
    calls.openWithoutLinks(processes.fd, calls.cBytes(limit.slice(1)), calls.O_WRONLY),
  );
  must(`write /proc${limit}`, calls.write(file, calls.rawBytes("0")));
  calls.close(file);
  for (const path of SETTINGS) {
    const found = calls.openWithoutLinks(processes.fd, calls.cBytes(path.slice(1)), calls.O_PATH);
    if (found === -ENOENT) continue; // the kernel was built without it
    must(`openat2 /proc${path}`, found);
    const mount = must(`open_tree /proc${path}`, calls.cloneTree(found));
    const attributes = FRESH | calls.MOUNT_NO_EXEC | calls.MOUNT_READ_ONLY;
    must(`mount_setattr /proc${path}`, calls.setMountAttributes(mount, attributes, { recursive: true }));
    must(`move_mount /proc${path}`, calls.attach(mount, found));
    calls.close(mount);
    calls.close(found);
  }
}

/** For messages: where the covers stand, which nobody sees. */
export const COVERS = "(covers)";

/** One empty file for each mode that is needed. */
export function coverFiles(mounts: readonly Mount[]): Tree {
  const covers = new Tree(must(`fsmount tmpfs ${COVERS}`, calls.newMount("tmpfs", { mode: "700" }, FRESH)));
  const needed = mounts.filter((mount): mount is Cover => mount.kind === "emptyFile");
  const modes = new Map(needed.map((cover) => [coverPath(cover), cover.mode]));
  for (const [path, mode] of modes) covers.makeFile(path, mode);
  return covers;
}

export function coverPath({ mode }: Cover): BytePath {
  return `/${mode.toString(8)}`;
}

/** The machine's path of the terminal that is our standard input, output or error output, if one is. */
export function terminalNode(machine: Tree): BytePath | undefined {
  const target = new Uint8Array(new ArrayBuffer(64));
  for (const fd of [0, 1, 2]) {
    const length = calls.readLink(calls.cBytes(`/proc/self/fd/${fd}`), target);
    if (length === -ENOENT) continue; // not open
    const path = fromBytes(target.subarray(0, must(`readlinkat /proc/self/fd/${fd}`, length)));
    if (!/^\/dev\/pts\/\d+$/.test(path)) continue;
    // A terminal that was handed in from another container has the name of somebody else's here, or nobody's.
    const node = calls.openWithoutLinks(machine.fd, calls.cBytes(path.slice(1)), calls.O_PATH);
    if (node === -ENOENT) continue;
    const isOurs = calls.identity(must(`openat2 ${path}`, node)) === calls.identity(fd);
    calls.close(node);
    if (isOurs) return path;
  }
  return undefined;
}
