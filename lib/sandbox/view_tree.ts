import { isAtOrBelow } from "./byte_path.ts";
import { type NodeKind, type PathTree, TreeError } from "./file_tree.ts";
import type { Mount } from "./mount_plan.ts";
import type { BytePath } from "./policy.ts";

/**
 * What these mounts show, as far as that can be known from outside: below /dev and /proc, and where a closed directory
 * hides what is in it, everything is `unknown`.
 *
 * @param machine What is there without them.
 */
export function viewTree(mounts: readonly Mount[], machine: PathTree): PathTree {
  const isOnTheWay = (path: BytePath): boolean =>
    mounts.some((mount) => mount.kind !== "freeze" && isAtOrBelow(mount.path, path));
  const inMemory = (path: BytePath): NodeKind => isOnTheWay(path) ? "directory" : "missing";
  return {
    kindOf(path) {
      const top = topMount(mounts, path);
      switch (top?.kind) {
        case "bind":
        case "readOnlyBind":
        case "deviceBind":
          return machine.kindOf(path);
        case "emptyRoot":
          return inMemory(path);
        case "emptyDirectory":
          return path !== top.path && isClosed(top) ? "unknown" : inMemory(path);
        case "emptyFile":
          return "file";
        case "link":
          return "link";
        case "devices":
        case "processes":
          return path === top.path ? "directory" : "unknown";
        default:
          return "unknown";
      }
    },
    readLink(path) {
      const top = topMount(mounts, path);
      if (top?.kind === "link") return top.target;
      if (top === undefined || !BINDS.includes(top.kind)) throw new TreeError("it is no link in the view");
      return machine.readLink(path);
    },
  };
}

const BINDS: readonly Mount["kind"][] = ["bind", "readOnlyBind", "deviceBind"];
const MAY_ENTER = 0o111;

/** What a path is seen through. */
export function topMount(mounts: readonly Mount[], path: BytePath): Mount | undefined {
  return mounts.findLast((mount) => mount.kind !== "freeze" && isAtOrBelow(path, mount.path));
}

export function isClosed(mount: Mount): boolean {
  return mount.kind === "emptyDirectory" && (mount.mode & MAY_ENTER) === 0;
}
