import { cString } from "../../linux/cstring.ts";
import * as calls from "../../linux/file_calls.ts";
import { isSameOrBelow } from "../../native_path.ts";
import type { MaybePromise, NativePath } from "../operations.ts";
import { checked } from "../os_error.ts";
import { copyIntoItself, directoryWithoutRecursive, notCopied } from "../refusals.ts";
import type { Slice } from "../slice.ts";
import { canonicalize } from "./canonicalize.ts";
import { copyFile } from "./copy_file.ts";
import { copyLink, type Place } from "./copy_link.ts";
import { copyTree } from "./copy_tree.ts";
import { createWithParents } from "./create_directory.ts";
import { LOOKING_UP, OpenDirectory } from "./open_directory.ts";
import { inSlices, type Steps } from "../steps.ts";

const SLASH = 0x2f;

/** Filled and read within one step. */
const status = new calls.FileStatus();

/** See {@linkcode FileOperations.copy}. The first failure ends it; what is there by then stays. */
export function copy(
  source: NativePath,
  destination: NativePath,
  recursive: boolean,
  slice: Slice,
  signal: AbortSignal,
): MaybePromise<void> {
  return inSlices(copying(source, destination, recursive, signal), slice, signal);
}

/** The steps of it. */
export function* copying(
  source: NativePath,
  destination: NativePath,
  recursive: boolean,
  signal: AbortSignal,
): Steps<void> {
  const from = { at: calls.AT_FDCWD, name: cString(source) };
  const to = { at: calls.AT_FDCWD, name: cString(destination) };
  checked(calls.statusAt(from.at, from.name, calls.AT_SYMLINK_NOFOLLOW, status));
  switch (status.kind) {
    case calls.S_IFREG:
      return yield* copyFile(from, (flags, mode) => openFollowing(to, flags, mode), signal);
    case calls.S_IFLNK:
      return copyLink(from, to);
    case calls.S_IFDIR:
      break;
    default:
      throw notCopied();
  }
  if (!recursive) throw directoryWithoutRecursive();
  const real = canonicalize(source);
  if (isSameOrBelow(yield* realDestination(destination), real)) throw copyIntoItself();
  yield* createWithParents(destination);
  using target = OpenDirectory.at(to.at, to.name, LOOKING_UP);
  yield* copyTree(from, target, signal);
}

// deno-lint-ignore require-yield -- the other way of opening a destination may take steps
function* openFollowing({ at, name }: Place, flags: number, mode: number): Steps<number> {
  return calls.openAt(at, name, flags, mode);
}

/** Where a path leads that need not exist yet: links are resolved in that part of it that exists. */
function* realDestination(path: NativePath): Steps<NativePath> {
  let existing = path;
  while (existing.length > 1 && calls.statusAt(calls.AT_FDCWD, cString(existing), 0, status) < 0) {
    existing = existing.subarray(0, Math.max(1, existing.lastIndexOf(SLASH)));
    yield;
  }
  const real = canonicalize(existing);
  const rest = path.subarray(existing.length === 1 ? 0 : existing.length);
  if (rest.length === 0) return real;
  const whole = new Uint8Array(real.length + rest.length);
  whole.set(real);
  whole.set(rest, real.length === 1 ? 0 : real.length);
  return real.length === 1 ? whole.subarray(0, rest.length) : whole;
}
