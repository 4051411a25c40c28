/** The text of one entry of the record: a line of JSON with what is meant, then one with which object it has become. */

import { normalized } from "./byte_path.ts";
import type { BytePath } from "./policy.ts";
import { type Identity, isStagingName, type MountPoint, type MountPointKind } from "./placeholder.ts";

export interface RecordEntry extends MountPoint {
  /** The name, in the same directory, under which it is made. */
  readonly staging: string;
  /** Undefined: it has not got its name yet. */
  readonly identity: Identity | undefined;
}

/** A path has at most 4095 bytes, of which each may be written as six characters. */
export const MAX_ENTRY_BYTES = 32 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function encodeIntent(
  { path, kind, staging }: MountPoint & { readonly staging: string },
): Uint8Array<ArrayBuffer> {
  return encoder.encode(JSON.stringify({ path, kind, staging }) + "\n");
}

export function encodeIdentity({ device, inode, createdMs }: Identity): Uint8Array<ArrayBuffer> {
  return encoder.encode(JSON.stringify({ device: String(device), inode: String(inode), createdMs }) + "\n");
}

/**
 * Reads an entry as far as it was written; the last identity counts.
 *
 * @returns undefined if nothing can have been made of it: its first line is not whole, or none of ours.
 */
export function parseEntry(bytes: Uint8Array): RecordEntry | undefined {
  const [first = "", ...rest] = decoder.decode(bytes).split("\n").slice(0, -1).map(parseLine);
  const intent = asIntent(first);
  if (intent === undefined) return undefined;
  return { ...intent, identity: rest.map(asIdentity).findLast((identity) => identity !== undefined) };
}

type Fields = Readonly<Record<string, unknown>>;

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // Not a line of ours: it is as if it was not there.
    return undefined;
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? value as Fields : {};
}

function asIntent(line: unknown): (MountPoint & { staging: string }) | undefined {
  const { path, kind, staging } = fieldsOf(line);
  if (!isPath(path) || !isKind(kind) || typeof staging !== "string" || !isStagingName(staging)) return undefined;
  return { path, kind, staging };
}

function asIdentity(line: unknown): Identity | undefined {
  const { device, inode, createdMs } = fieldsOf(line);
  if (!isDecimal(device) || !isDecimal(inode) || typeof createdMs !== "number") return undefined;
  return { device: BigInt(device), inode: BigInt(inode), createdMs };
}

/** Absolute and normal, of bytes without NULs. */
function isPath(value: unknown): value is BytePath {
  return typeof value === "string" && value.startsWith("/") && value !== "/" && normalized(value) === value &&
    Array.from(value).every((unit) => unit > "\0" && unit <= "\xff");
}

function isKind(value: unknown): value is MountPointKind {
  return value === "directory" || value === "file";
}

function isDecimal(value: unknown): value is string {
  return typeof value === "string" && /^\d{1,20}$/.test(value);
}
