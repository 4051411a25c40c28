import type { FileTree, NodeKind, TreeEntry } from "../../lib/sandbox/file_tree.ts";
import { TreeError } from "../../lib/sandbox/file_tree.ts";

/** A directory by its names, a file by its text, a link by its target; `closed`: nothing can be learnt of it. */
export type Node = { readonly [name: string]: Node } | string | { readonly link: string } | typeof CLOSED;
export const CLOSED = Symbol("closed");

export function linkTo(target: string): Node {
  return { link: target };
}

/** A file system in memory. A directory's only name must not be `link`. */
export class FakeTree implements FileTree {
  /** Names that were looked at by listing. */
  listed = 0;

  constructor(readonly root: Node) {}

  kindOf(path: string): NodeKind {
    const node = this.#at(path);
    if (node === undefined) return "missing";
    if (node === CLOSED) return "unknown";
    return kind(node);
  }

  readLink(path: string): string {
    const node = this.#at(path);
    if (node === undefined || !isLink(node)) throw new TreeError(`no link: ${path}`);
    return node.link;
  }

  *list(path: string): Iterable<TreeEntry> {
    const node = this.#at(path);
    if (node === undefined || kind(node) !== "directory") return;
    for (const [name, below] of Object.entries(node)) {
      this.listed++;
      if (below === CLOSED) throw new TreeError(`cannot list ${path}`);
      yield { name, kind: kind(below) };
    }
  }

  readStart(path: string, maxBytes: number): string {
    const node = this.#at(path);
    return typeof node === "string" ? node.slice(0, maxBytes) : "";
  }

  #at(path: string): Node | undefined {
    let node: Node | undefined = this.root;
    for (const name of path.split("/").filter((name) => name !== "")) {
      if (node === CLOSED) return CLOSED;
      if (node === undefined || kind(node) !== "directory") return undefined;
      node = Object.hasOwn(node as object, name) ? (node as Record<string, Node>)[name] : undefined;
    }
    return node;
  }
}

function kind(node: Node): "directory" | "file" | "link" {
  if (typeof node === "string" || node === CLOSED) return "file";
  return isLink(node) ? "link" : "directory";
}

function isLink(node: Node): node is { readonly link: string } {
  return typeof node === "object" && Object.keys(node).length === 1 &&
    typeof (node as { link?: unknown }).link === "string";
}
