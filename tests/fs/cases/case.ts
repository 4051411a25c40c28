/** What a case of files is made of, and what cases have in common. */

import assert from "node:assert/strict";
import type { FileContent, FileOperations } from "../../../lib/fs/operations.ts";
import { type Scratch, textOf } from "../scratch.ts";

export interface Scene {
  readonly files: FileOperations;
  readonly scratch: Scratch;
}

export interface FileCase {
  readonly name: string;
  readonly run: (scene: Scene) => Promise<void>;
  readonly ignore?: boolean;
}

export const caller = { signal: new AbortController().signal, budgetMs: () => 5 };

export const ENOENT = "notFound: No such file or directory (os error 2)";
export const ENXIO = "internal: No such device or address (os error 6)";
export const EBADF = "internal: Bad file descriptor (os error 9)";
export const EEXIST = "internal: File exists (os error 17)";
export const ENOTDIR = "internal: Not a directory (os error 20)";
export const EISDIR = "internal: Is a directory (os error 21)";
export const EINVAL = "invalidRequest: Invalid argument (os error 22)";
export const ELOOP = "internal: Symbolic link loop (os error 40)";
export const ENOTEMPTY = "internal: Directory not empty (os error 39)";
export const LINK = "invalidRequest: path contains a symbolic link";
export const IRREGULAR = "invalidRequest: path is not a regular file";

/** The kind and the words of what it throws or rejects with. */
export async function failure(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (error) {
    const { kind, message } = error as Error & { readonly kind?: string };
    return `${kind}: ${message}`;
  }
  throw new Error("it succeeded");
}

export async function refuses(what: string, act: () => unknown): Promise<void> {
  assert.equal(await failure(act), what);
}

export function contentOf(content: FileContent): Uint8Array {
  return "base64" in content ? Uint8Array.fromBase64(textOf(content.base64)) : content;
}

export function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** All that is below a directory, sorted: `name/`, `name@target`, `name=content` or `name!` for anything else. */
export function treeOf(directory: string, prefix = ""): string[] {
  return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory, isFile, isSymlink }) => {
    const path = `${directory}/${name}`;
    if (isDirectory) return [`${prefix}${name}/`, ...treeOf(path, `${prefix}${name}/`)];
    if (isSymlink) return [`${prefix}${name}@${Deno.readLinkSync(path)}`];
    return [isFile ? `${prefix}${name}=${Deno.readTextFileSync(path)}` : `${prefix}${name}!`];
  }).sort();
}

export function modeOf(path: string): string {
  return (Deno.lstatSync(path).mode! & 0o7777).toString(8);
}
