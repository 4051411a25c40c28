/** The file system of this machine by the runtime's own calls, which know only names that are UTF-8: for macOS. */

import { fromBytes, fromText, join, toText } from "./byte_path.ts";
import { type FileTree, TreeError } from "./file_tree.ts";
import type { BytePath } from "./policy.ts";

export const portableTree: FileTree = {
  kindOf(path) {
    try {
      const { isDirectory, isSymlink } = Deno.lstatSync(toText(path));
      return isDirectory ? "directory" : isSymlink ? "link" : "file";
    } catch (error) {
      return isMissing(error) ? "missing" : "unknown";
    }
  },

  readLink(path) {
    try {
      return fromText(Deno.readLinkSync(toText(path)));
    } catch (error) {
      throw failure("read the link", path, error);
    }
  },

  *list(path) {
    if (portableTree.kindOf(path) === "link") return;
    try {
      for (const { name, isDirectory, isSymlink } of Deno.readDirSync(toText(path))) {
        if (name.includes("\ufffd")) throw new Error(`the name of ${toText(join(path, fromText(name)))} is no UTF-8`);
        yield { name: fromText(name), kind: isDirectory ? "directory" : isSymlink ? "link" : "file" };
      }
    } catch (error) {
      if (!isMissing(error)) throw failure("list", path, error);
    }
  },

  readStart(path, maxBytes) {
    if (portableTree.kindOf(path) === "link") throw new TreeError(`cannot read ${toText(path)}: it is a link`);
    try {
      // To open a pipe would wait for its other end.
      if (!Deno.lstatSync(toText(path)).isFile) return "";
      using file = Deno.openSync(toText(path));
      const buffer = new Uint8Array(maxBytes);
      let filled = 0;
      for (let count: number | null = 0; count !== null && filled < maxBytes; filled += count ?? 0) {
        count = file.readSync(buffer.subarray(filled));
      }
      return fromBytes(buffer.subarray(0, filled));
    } catch (error) {
      if (isMissing(error)) return "";
      throw failure("read", path, error);
    }
  },
};

function isMissing(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
}

function failure(what: string, path: BytePath, error: unknown): TreeError {
  const reason = error instanceof Error ? error.message : String(error);
  return new TreeError(`cannot ${what} ${toText(path)}: ${reason}`, { cause: error });
}
