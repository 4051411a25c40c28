/** The file system of this machine, on Linux. */

import { cString } from "../linux/cstring.ts";
import { ENOENT, ENOTDIR, osErrorText } from "../linux/errno.ts";
import * as calls from "../linux/file_calls.ts";
import { type Bytes, close, O_CLOEXEC, O_DIRECTORY, O_NONBLOCK, O_RDONLY, read } from "../linux/libc.ts";
import { fromBytes, join, toBytes, toText } from "./byte_path.ts";
import { type FileTree, type NodeKind, type TreeEntry, TreeError } from "./file_tree.ts";
import type { BytePath } from "./policy.ts";

/** About a thousand names at once. */
const LISTING_BYTES = 32 * 1024;

/** `struct linux_dirent64`: its length at 16, what it is at 18, then the name up to a NUL. */
const LENGTH_OFFSET = 16;
const TYPE_OFFSET = 18;
const NAME_OFFSET = 19;

const DT_UNKNOWN = 0;
const DT_DIR = 4;
const DT_LNK = 10;

export const realTree: FileTree = {
  kindOf(path) {
    const status = new calls.FileStatus();
    const result = calls.statusAt(calls.AT_FDCWD, cPath(path), calls.AT_SYMLINK_NOFOLLOW, status);
    if (result < 0) return isMissing(result) ? "missing" : "unknown";
    return status.kind === calls.S_IFDIR ? "directory" : status.kind === calls.S_IFLNK ? "link" : "file";
  },

  readLink(path) {
    const buffer = new Uint8Array(new ArrayBuffer(calls.PATH_MAX));
    const length = calls.readLinkAt(calls.AT_FDCWD, cPath(path), buffer);
    if (length < 0) throw failure("read the link", path, length);
    return fromBytes(buffer.subarray(0, length));
  },

  *list(path) {
    const fd = calls.openAt(calls.AT_FDCWD, cPath(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC | calls.O_NOFOLLOW);
    if (isMissing(fd)) return;
    if (fd < 0) throw failure("list", path, fd);
    try {
      const buffer = new Uint8Array(new ArrayBuffer(LISTING_BYTES));
      for (;;) {
        const filled = calls.readDirectoryEntries(fd, buffer);
        if (filled === 0 || filled === -ENOENT) return;
        if (filled < 0) throw failure("list", path, filled);
        yield* entriesIn(path, buffer.subarray(0, filled));
      }
    } finally {
      close(fd);
    }
  },

  readStart(path, maxBytes) {
    const flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | calls.O_NOFOLLOW;
    const fd = calls.openAt(calls.AT_FDCWD, cPath(path), flags);
    if (isMissing(fd)) return "";
    if (fd < 0) throw failure("read", path, fd);
    try {
      const buffer = new Uint8Array(new ArrayBuffer(maxBytes));
      let filled = 0;
      for (let count = -1; count !== 0 && filled < maxBytes; filled += count) {
        count = read(fd, buffer.subarray(filled));
        if (count < 0) throw failure("read", path, count);
      }
      return fromBytes(buffer.subarray(0, filled));
    } finally {
      close(fd);
    }
  },
};

function* entriesIn(directory: BytePath, buffer: Bytes): Generator<TreeEntry, void, void> {
  for (let at = 0; at < buffer.length; at += buffer[at + LENGTH_OFFSET]! + (buffer[at + LENGTH_OFFSET + 1]! << 8)) {
    const start = at + NAME_OFFSET;
    const name = fromBytes(buffer.subarray(start, buffer.indexOf(0, start)));
    if (name === "." || name === "..") continue;
    const kind = kindOfEntry(join(directory, name), buffer[at + TYPE_OFFSET]!);
    if (kind !== "missing") yield { name, kind };
  }
}

/** Some file systems do not tell the kind with the name. */
function kindOfEntry(path: BytePath, type: number): TreeEntry["kind"] | "missing" {
  if (type !== DT_UNKNOWN) return type === DT_DIR ? "directory" : type === DT_LNK ? "link" : "file";
  const kind: NodeKind = realTree.kindOf(path);
  if (kind === "unknown") throw new TreeError(`cannot look at ${toText(path)}`);
  return kind;
}

function cPath(path: BytePath): Bytes {
  return cString(toBytes(path));
}

function isMissing(result: number): boolean {
  return result === -ENOENT || result === -ENOTDIR;
}

function failure(what: string, path: BytePath, result: number): TreeError {
  return new TreeError(`cannot ${what} ${toText(path)}: ${osErrorText(-result)}`);
}
