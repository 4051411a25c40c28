/** What a directory holds, so that two of them can be compared. */
import { Buffer } from "node:buffer";
import * as posix from "./posix.ts";
import type { BytePath } from "./posix.ts";

/** Everything below a directory by relative path: one line about each, and what regular files contain. */
export type Snapshot = ReadonlyMap<BytePath, { readonly line: string; readonly bytes: Uint8Array | null }>;

export interface SnapshotOptions {
  /** What was changed from then on shows as changed now, in milliseconds since 1970. */
  readonly since: number;
  /** In place of the directory's path, where a link or the `.git` file of a working tree names it. */
  readonly name: string;
}

/** Most bytes of a file that are compared; tests make none that is larger. */
const READ_BYTES = 64 * 1024 * 1024;

/** The longest path that Linux takes, with its NUL. */
const PATH_MAX_BYTES = 4096;

/** Looks at names, kinds, modes, sizes, contents, targets, times and hard links. Modes may be loosened for a moment. */
export function take(directory: BytePath, { since, name }: SnapshotOptions): Snapshot {
  const found = new Map<BytePath, { line: string; bytes: Uint8Array | null }>();
  const firstNames = new Map<string, BytePath>();
  const look = (path: BytePath): void => {
    const place = path === "" ? directory : `${directory}/${path}`;
    const status = posix.lstat(place);
    if (status === null) {
      if (place.length < PATH_MAX_BYTES) throw new Error(`${place} vanished while nobody should change it`);
      found.set(path, { line: "too deep to be looked at", bytes: null });
      return;
    }
    const { kind, mode, size, linkCount, identity, modifiedMs } = status;
    const time = modifiedMs >= since ? "now" : modifiedMs.toFixed(6);
    let line = `${kind} ${mode.toString(8).padStart(4, "0")} ${time}`;
    if (kind === "file" || kind === "directory") line += ` ${size}`;
    if (kind === "link") line += ` ${JSON.stringify(posix.readlink(place).replaceAll(directory, name))}`;
    if (kind !== "directory" && linkCount > 1) {
      const first = firstNames.get(identity) ?? path;
      firstNames.set(identity, first);
      line += ` ${linkCount} links, the first ${JSON.stringify(first)}`;
    }
    const bytes = kind === "file"
      ? renamed(withMode(place, mode, 0o400, () => posix.read(place, Math.min(size, READ_BYTES))), directory, name)
      : null;
    found.set(path, { line, bytes });
    if (kind !== "directory") return;
    withMode(place, mode, 0o500, () => {
      for (const child of posix.list(place)) look(path === "" ? child : `${path}/${child}`);
    });
  };
  look("");
  return found;
}

const POINTER = "gitdir: ";

function renamed(bytes: Uint8Array<ArrayBuffer>, directory: BytePath, name: string): Uint8Array<ArrayBuffer> {
  if (!posix.fromBytes(bytes.subarray(0, POINTER.length)).startsWith(POINTER)) return bytes;
  return posix.toBytes(posix.fromBytes(bytes).replaceAll(directory, name));
}

/** Adds permissions for as long as `action` runs. */
function withMode<T>(place: BytePath, mode: number, needed: number, action: () => T): T {
  if ((mode & needed) === needed) return action();
  posix.chmod(place, mode | needed);
  try {
    return action();
  } finally {
    posix.chmod(place, mode);
  }
}

/** What is different, one line each, or null if nothing is. */
export function difference(theirs: Snapshot, own: Snapshot): string | null {
  const lines: string[] = [];
  for (const path of [...new Set([...theirs.keys(), ...own.keys()])].sort()) {
    const [a, b] = [theirs.get(path), own.get(path)];
    if (a?.line !== b?.line) lines.push(`${JSON.stringify(path)}: ${a?.line ?? "nothing"} | ${b?.line ?? "nothing"}`);
    else if (a?.bytes && b?.bytes) {
      const at = firstDifference(a.bytes, b.bytes);
      if (at !== null) lines.push(`${JSON.stringify(path)}: byte ${at} is ${a.bytes[at]} | ${b.bytes[at]}`);
    }
  }
  return lines.length === 0 ? null : lines.join("\n");
}

function firstDifference(a: Uint8Array, b: Uint8Array): number | null {
  if (Buffer.from(a.buffer).equals(b)) return null; // hundreds of times as fast as a loop
  if (a.length !== b.length) return Math.min(a.length, b.length);
  const at = a.findIndex((byte, i) => byte !== b[i]);
  return at === -1 ? null : at;
}
