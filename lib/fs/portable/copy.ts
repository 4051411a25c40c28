import { EEXIST } from "../../linux/errno.ts";
import type { NativePath } from "../operations.ts";
import { OsError } from "../os_error.ts";
import { copyIntoItself, directoryWithoutRecursive, notCopied } from "../refusals.ts";
import type { Slice } from "../slice.ts";
import { isSameFile } from "./look.ts";
import { openEmptied, openRegular, PIECE_BYTES, writeAll } from "./open_file.ts";
import { orNull, orOsError } from "./os_failure.ts";
import { childOf, isRoot, nameOf, parentOf, pathBytes, pathText } from "./path_text.ts";
import { listOf, targetOf } from "./read_directory.ts";

/** The bits of a mode that are not the kind of the file. */
const PERMISSIONS = 0o7777;

/** See {@linkcode FileOperations.copy}. The first failure ends it; what is there by then stays. */
export async function copy(
  source: NativePath,
  destination: NativePath,
  recursive: boolean,
  slice: Slice,
  signal: AbortSignal,
): Promise<void> {
  const from = pathText(source);
  const to = pathText(destination);
  const { isDirectory, isFile, isSymlink } = await orOsError(Deno.lstat(from));
  if (isFile) await copyFile(from, to, signal);
  else if (isSymlink) await copyLink(from, to, signal);
  else if (!isDirectory) throw notCopied();
  else if (!recursive) throw directoryWithoutRecursive();
  else {
    const inside = await orOsError(Deno.realPath(from));
    const target = await realPathOfWhatExists(to);
    if (target === inside || target.startsWith(childOf(inside, ""))) throw copyIntoItself();
    await copyTree(from, to, slice, signal);
  }
}

async function copyTree(from: string, to: string, slice: Slice, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await orOsError(Deno.mkdir(to, { recursive: true }));
  for (const { name } of await listOf(from, slice, signal)) {
    const [source, destination] = [childOf(from, name), childOf(to, name)];
    const { isDirectory, isFile, isSymlink } = await orOsError(Deno.lstat(source));
    if (isDirectory) await copyTree(source, destination, slice, signal);
    else if (isFile) await copyFile(source, destination, signal);
    else if (isSymlink) await copyLink(source, destination, signal); // anything else stays behind
  }
}

/** The mode is copied as well, but not the times. Onto itself, by whatever name, a file keeps its content. */
async function copyFile(from: string, to: string, signal: AbortSignal): Promise<void> {
  const { file, info } = await openRegular(pathBytes(from), true);
  using source = file;
  const present = await orNull(Deno.stat(to));
  if (present !== null && isSameFile(present, info) && (info.ino !== null || await isSamePath(from, to))) return;
  const mode = (info.mode ?? 0o666) & PERMISSIONS;
  const way = { followSymlinks: true, devices: true, mode: mode & 0o777 };
  using target = await openEmptied(pathBytes(to), way, signal);
  const buffer = new Uint8Array(PIECE_BYTES);
  for (;;) {
    const count = await orOsError(source.read(buffer));
    if (count === null) break;
    await writeAll(target, buffer.subarray(0, count), signal);
  }
  signal.throwIfAborted();
  if (info.mode !== null && (await orOsError(target.stat())).isFile) await orOsError(Deno.chmod(to, mode));
}

async function isSamePath(a: string, b: string): Promise<boolean> {
  return await orOsError(Deno.realPath(a)) === await orOsError(Deno.realPath(b));
}

/** A new link with the same text. */
async function copyLink(from: string, to: string, signal: AbortSignal): Promise<void> {
  const text = await orOsError(Deno.readLink(from));
  const leadsTo = await targetOf(from); // Windows wants to know
  signal.throwIfAborted();
  if (await orNull(Deno.lstat(to)) !== null) throw new OsError(EEXIST);
  await orOsError(Deno.symlink(text, to, { type: leadsTo?.isDirectory ? "dir" : "file" }));
}

/** Where a path leads that need not exist yet: links are resolved in that part of it that exists. */
async function realPathOfWhatExists(path: string): Promise<string> {
  const missing: string[] = [];
  let existing = path;
  while (!isRoot(existing) && await targetOf(existing) === null) {
    missing.unshift(nameOf(existing));
    existing = parentOf(existing);
  }
  return missing.reduce((directory, name) => childOf(directory, name), await orOsError(Deno.realPath(existing)));
}
