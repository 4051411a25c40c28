/** Trees for tests: drawn at random, planted on the disk, read back; and directories deeper than any path. */

import fc from "fast-check";
import { cString } from "../../../lib/linux/cstring.ts";
import * as calls from "../../../lib/linux/file_calls.ts";
import { close, O_CLOEXEC, O_DIRECTORY } from "../../../lib/linux/libc.ts";
import { Slice } from "../../../lib/fs/slice.ts";
import type { Steps } from "../../../lib/fs/steps.ts";
import { isRoot } from "../scratch.ts";

export type Node =
  | { readonly kind: "file"; readonly content: string; readonly mode: number }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "fifo" }
  | { readonly kind: "directory"; readonly children: Tree };
export type Tree = ReadonlyMap<string, Node>;

/** Linux takes the set-id bits away when somebody else than root writes, as a copy does after it has set them. */
const MODES = isRoot ? [0o644, 0o600, 0o4755, 0o400] : [0o644, 0o600, 0o755, 0o400];

export interface Sketch {
  readonly [name: string]: string | Sketch;
}

/** A tree of directories and of files with such a content. */
export function treeOf(sketch: Sketch): Tree {
  return new Map(
    Object.entries(sketch).map(([name, inside]): [string, Node] => [
      name,
      typeof inside === "string"
        ? { kind: "file", content: inside, mode: 0o644 }
        : { kind: "directory", children: treeOf(inside) },
    ]),
  );
}

/** @param names What files and directories may be called. */
export function trees(names: readonly string[], linkTargets: readonly string[]): fc.Arbitrary<Tree> {
  const name = fc.constantFrom(...names);
  const { tree } = fc.letrec<{ tree: Tree; node: Node }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3, depthIdentifier: "tree", withCrossShrink: true },
      fc.record({
        kind: fc.constant("file" as const),
        content: fc.constantFrom("", "one", "two", "x".repeat(5000)),
        mode: fc.constantFrom(...MODES),
      }),
      fc.record({ kind: fc.constant("link" as const), target: fc.constantFrom(...linkTargets) }),
      fc.constant({ kind: "fifo" as const }),
      fc.record({ kind: fc.constant("directory" as const), children: tie("tree") }),
      fc.record({ kind: fc.constant("directory" as const), children: tie("tree") }),
    ),
    tree: fc.array(fc.tuple(name, tie("node")), { maxLength: 5 }).map((entries) => new Map(entries)),
  }));
  return tree;
}

export function plant(directory: string, tree: Tree): void {
  Deno.mkdirSync(directory);
  const fifos: string[] = [];
  plantInto(directory, tree, fifos);
  if (fifos.length > 0) new Deno.Command("mkfifo", { args: fifos }).outputSync();
}

function plantInto(directory: string, tree: Tree, fifos: string[]): void {
  for (const [name, node] of tree) {
    const path = `${directory}/${name}`;
    if (node.kind === "directory") {
      Deno.mkdirSync(path);
      plantInto(path, node.children, fifos);
    } else if (node.kind === "file") {
      Deno.writeTextFileSync(path, node.content);
      Deno.chmodSync(path, node.mode);
    } else if (node.kind === "link") Deno.symlinkSync(node.target, path);
    else fifos.push(path);
  }
}

/** A line for each node, sorted: what it is, its mode unless it is a link, its content or target. */
export function lines(tree: Tree, prefix = ""): string[] {
  return [...tree].flatMap(([name, node]) => {
    const path = `${prefix}${name}`;
    if (node.kind === "directory") return [`${path}/`, ...lines(node.children, `${path}/`)];
    if (node.kind === "file") return [`${path} ${node.mode.toString(8)} ${node.content}`];
    return [node.kind === "link" ? `${path} -> ${node.target}` : `${path} fifo`];
  }).sort();
}

/** The same lines for what is on the disk. */
export function linesOf(directory: string, prefix = ""): string[] {
  return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory, isFile, isSymlink }) => {
    const path = `${directory}/${name}`;
    const shown = `${prefix}${name}`;
    if (isDirectory) return [`${shown}/`, ...linesOf(path, `${shown}/`)];
    if (isSymlink) return [`${shown} -> ${Deno.readLinkSync(path)}`];
    if (!isFile) return [`${shown} fifo`];
    return [`${shown} ${(Deno.statSync(path).mode! & 0o7777).toString(8)} ${Deno.readTextFileSync(path)}`];
  }).sort();
}

/** Never gives way. */
export function wholeSlice(): Slice {
  return new Slice(() => Infinity, () => Promise.reject(new Error("there was no time")));
}

/** Gives way after each step; tells how often. */
export function thinSlices(): { readonly slice: Slice; readonly count: () => number } {
  let count = 0;
  const giveWay = (): Promise<void> => {
    count++;
    return calls.otherBusiness();
  };
  return { slice: new Slice(() => -1, giveWay), count: () => count };
}

/** Does work step by step; `between` is told how many have been done, and may change the world. */
export async function stepwise<T>(work: Steps<T>, between: (step: number) => void): Promise<T> {
  try {
    for (let done = 0;; done++) {
      between(done);
      const step = work.next();
      if (step.done) return step.value;
      await step.value;
    }
  } finally {
    work.return(undefined as never);
  }
}

/** How many descriptors this process has open; where they lead may have no path. */
export function descriptorCount(): number {
  return [...Deno.readDirSync("/proc/self/fd")].length;
}

const LEVEL = cString("level-of-a-tree");
const BOTTOM = cString("bottom");

/** Digs a chain of directories, with a file at the bottom; its path is longer than any call takes. */
export function dig(directory: string, levels: number): void {
  const flags = O_DIRECTORY | calls.O_PATH | O_CLOEXEC;
  Deno.mkdirSync(directory);
  let fd = calls.openAt(calls.AT_FDCWD, cString(directory), flags);
  for (let level = 0; level < levels; level++) {
    calls.makeDirectoryAt(fd, LEVEL, 0o777);
    const next = calls.openAt(fd, LEVEL, flags);
    close(fd);
    fd = next;
  }
  close(calls.openAt(fd, BOTTOM, calls.O_CREAT | O_CLOEXEC, 0o666));
  close(fd);
}

/** How many levels there are, and whether the file at the bottom is there. */
export function plumb(directory: string): { levels: number; bottom: boolean } {
  const flags = O_DIRECTORY | calls.O_PATH | O_CLOEXEC;
  let fd = calls.openAt(calls.AT_FDCWD, cString(directory), flags);
  for (let levels = 0;; levels++) {
    const next = calls.openAt(fd, LEVEL, flags);
    if (next < 0) {
      const bottom = calls.openAt(fd, BOTTOM, calls.O_PATH | O_CLOEXEC);
      close(fd);
      if (bottom >= 0) close(bottom);
      return { levels, bottom: bottom >= 0 };
    }
    close(fd);
    fd = next;
  }
}
