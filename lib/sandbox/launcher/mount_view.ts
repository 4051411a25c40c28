/** Makes the mounts of a plan, in this process's own mount namespace, and moves into what they show. */

import * as calls from "../../linux/sandbox_calls.ts";
import { parent } from "../byte_path.ts";
import type { Mount } from "../mount_plan.ts";
import type { BytePath } from "../policy.ts";
import { must } from "./failure.ts";
import {
  coverFiles,
  coverPath,
  COVERS,
  fillDevices,
  fillProcesses,
  MODE_OF_DEVICES,
  terminalNode,
} from "./fresh_trees.ts";
import { Tree } from "./tree.ts";

/** What exists only in memory, where mount points can be made. */
const IN_MEMORY: readonly Mount["kind"][] = ["emptyRoot", "emptyDirectory", "devices"];

const BOUND = calls.MOUNT_NO_SETUID | calls.MOUNT_NO_DEVICES;

/**
 * Everything is looked up without following a symbolic link, from directories that are open already: a plan names real
 * paths, and whoever puts a link in the place of one meanwhile gets a failure.
 *
 * @param mounts The first is for the root.
 * @throws {LaunchFailure} At the first step that fails. The namespace is of no use then.
 */
export function enterView(mounts: readonly Mount[]): void {
  must("mount_setattr / private", calls.makeMountsPrivate(calls.cBytes("/")));
  const machine = Tree.open("/");
  // What comes from the machine is taken before anything of ours stands in it.
  const standing = mounts.map((mount) => standIn(mount, machine));
  let covers: Tree | undefined;
  if (mounts.some(({ kind }) => kind === "emptyFile")) {
    // A file in memory can be bound only once it stands somewhere. This place goes away with the machine's root.
    covers = coverFiles(mounts);
    must(`move_mount ${COVERS}`, calls.attach(covers.fd, machine.fd));
    mounts.forEach((mount, index) => {
      if (mount.kind !== "emptyFile") return;
      standing[index] = bound(covers!, coverPath(mount), BOUND | calls.MOUNT_READ_ONLY);
    });
  }
  const [root, ...rest] = standing;
  must("move_mount /", calls.attach(root!, machine.fd));
  const view = new Tree(root!);
  const terminal = terminalNode(machine);
  const made = new Map<BytePath, Mount["kind"]>([[mounts[0]!.path, mounts[0]!.kind]]);
  rest.forEach((mount, index) => put(mounts[index + 1]!, mount, { view, machine, terminal, made }));
  must("fchdir /", calls.changeDirectoryTo(view.fd));
  must("pivot_root", calls.pivotRoot());
  must("umount2 .", calls.detachMount(calls.cBytes(".")));
  must("chdir /", calls.changeDirectory(calls.cBytes("/")));
  // Whoever stays, and is not replaced by another program, must not hold on to the machine.
  for (const tree of [view, machine, covers]) if (tree !== undefined) calls.close(tree.fd);
}

/** The mount that a step puts somewhere, not standing anywhere yet; undefined for a step that puts none. */
function standIn(mount: Mount, machine: Tree): number | undefined {
  switch (mount.kind) {
    case "bind":
      return bound(machine, mount.path, BOUND);
    case "readOnlyBind":
      return bound(machine, mount.path, BOUND | calls.MOUNT_READ_ONLY);
    case "deviceBind":
      return bound(machine, mount.path, calls.MOUNT_NO_SETUID);
    case "emptyRoot":
      return inMemory(mount.path, 0o755);
    case "emptyDirectory":
      return inMemory(mount.path, mount.mode);
    case "devices":
      return inMemory(mount.path, MODE_OF_DEVICES);
    case "processes":
      return must("fsmount proc", calls.newMount("proc", {}, BOUND | calls.MOUNT_NO_EXEC));
    case "emptyFile": // later, see above
    case "link":
    case "freeze":
      return undefined;
  }
}

function bound(from: Tree, path: BytePath, attributes: number): number {
  const file = from.find(path);
  const mount = must(`open_tree ${path}`, calls.cloneTree(file));
  calls.close(file);
  must(`mount_setattr ${path}`, calls.setMountAttributes(mount, attributes, { recursive: true }));
  return mount;
}

function inMemory(path: BytePath, mode: number): number {
  return must(`fsmount tmpfs ${path}`, calls.newMount("tmpfs", { mode: mode.toString(8) }, BOUND));
}

interface Place {
  readonly view: Tree;
  readonly machine: Tree;
  readonly terminal: BytePath | undefined;
  /** What stands in the view: what is above comes before what is below. */
  readonly made: Map<BytePath, Mount["kind"]>;
}

function put(mount: Mount, standing: number | undefined, place: Place): void {
  const { view, made } = place;
  if (mount.kind === "freeze") {
    const target = view.find(mount.path);
    must(
      `mount_setattr ${mount.path}`,
      calls.setMountAttributes(target, calls.MOUNT_READ_ONLY, { recursive: false }),
    );
    calls.close(target);
    return;
  }
  // On the machine's own tree nothing is ever made.
  const around = kindAround(mount.path, made);
  if (around !== undefined && IN_MEMORY.includes(around)) {
    if (mount.kind === "link") return view.makeLink(mount.path, mount.target);
    view.makeMountPoint(mount.path, isDirectory(mount, standing!));
  }
  made.set(mount.path, mount.kind);
  if (standing === undefined) return;
  const target = view.find(mount.path);
  must(`move_mount ${mount.path}`, calls.attach(standing, target));
  calls.close(target);
  if (mount.kind === "devices") fillDevices(new Tree(standing), place.machine, place.terminal);
  if (mount.kind === "processes") fillProcesses(new Tree(standing));
  calls.close(standing);
}

/** What the directory that a path lies in is a part of. Going up is quicker than to look through thousands of mounts. */
function kindAround(path: BytePath, made: Place["made"]): Mount["kind"] | undefined {
  for (let at = parent(path);; at = parent(at)) {
    const kind = made.get(at);
    if (kind !== undefined || at === "/") return kind;
  }
}

function isDirectory(mount: Mount, standing: number): boolean {
  if (mount.kind === "emptyFile") return false;
  return new Tree(standing).isDirectory();
}
