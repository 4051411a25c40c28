/** What server and helper say to each other. All paths are strings of bytes; open files go along as descriptors. */

import type { ExecErrorKind } from "../../errors.ts";
import type { Confinement } from "../../sandbox/launcher/launch_plan.ts";
import type { BytePath } from "../../sandbox/policy.ts";
import type { DirectoryEntry, Metadata, WalkOptions, WalkResult } from "../operations.ts";

/** One operation that a helper does; see `FileOperations` for what it means. */
export type Deed =
  /** Creates the file if it is opened for writing, and does not empty it. The answer is the descriptor. */
  | {
    readonly do: "open";
    readonly path: BytePath;
    readonly access: "reading" | "writing";
    readonly followSymlinks: boolean;
  }
  | {
    readonly do: "createDirectory";
    readonly path: BytePath;
    readonly options: { readonly recursive: boolean; readonly followSymlinks: boolean };
  }
  | { readonly do: "getMetadata"; readonly path: BytePath; readonly followSymlinks: boolean }
  | { readonly do: "canonicalize"; readonly path: BytePath }
  | { readonly do: "readDirectory"; readonly path: BytePath }
  | { readonly do: "walk"; readonly path: BytePath; readonly options: WalkOptions }
  | {
    readonly do: "remove";
    readonly path: BytePath;
    readonly options: { readonly recursive: boolean; readonly force: boolean; readonly followSymlinks: boolean };
  }
  | { readonly do: "copy"; readonly source: BytePath; readonly destination: BytePath; readonly recursive: boolean };

/** What comes of each. */
export interface Results {
  /** The descriptor; the receiver's to close. */
  readonly open: number;
  readonly createDirectory: null;
  readonly getMetadata: Metadata;
  readonly canonicalize: BytePath;
  readonly readDirectory: readonly DirectoryEntry[];
  readonly walk: WalkResult;
  readonly remove: null;
  readonly copy: null;
}

export type DeedName = keyof Results;

/** To the helper. */
export type Request =
  /** In this order: a view is entered, something is done, and the view is left. There is one answer. */
  | { readonly enter: Confinement | null; readonly deed: Deed | null; readonly leave: boolean }
  /** Nobody wants any more what is being done. It is answered all the same, and only once. */
  | "cancel";

/** From the helper: any number of parts, and one of the others. */
export type Reply =
  /** Items of a list of the result, behind those that came before. */
  | { readonly part: ListName; readonly items: readonly unknown[] }
  /** What the deed has come to, without its lists; the descriptor of an open file comes along. */
  | { readonly done: unknown }
  | { readonly failed: Failure }
  /** Nothing further was changed, because of "cancel". */
  | { readonly cancelled: true }
  /** A view could not be entered or left, or something unforeseen has happened: the helper ends. */
  | { readonly broken: string };

export type ListName = "entries" | "errors";

export interface Failure {
  readonly kind: ExecErrorKind;
  readonly message: string;
  /** If the system has said it. */
  readonly errno: number | null;
}

/** The number under which the helper has its end of the connection. */
export const HELPER_DESCRIPTOR = 3;

/** Four bytes, the lowest first, which say how many bytes of JSON follow. */
export const HEADER_BYTES = 4;
/** Far more than any message has: a plan with a hundred thousand mounts, or a part of a list. */
export const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** @throws {RangeError} If it is too long. */
export function encodeMessage(message: Request | Reply): Uint8Array<ArrayBuffer> {
  const body = encoder.encode(JSON.stringify(message));
  if (body.length > MAX_MESSAGE_BYTES) throw new RangeError("a message of the file helper is too long");
  const bytes = new Uint8Array(new ArrayBuffer(HEADER_BYTES + body.length));
  new DataView(bytes.buffer).setUint32(0, body.length, true);
  bytes.set(body, HEADER_BYTES);
  return bytes;
}

export function decodeMessage(body: Uint8Array): unknown {
  return JSON.parse(decoder.decode(body));
}

/** @throws {RangeError} If it is not to be believed. */
export function bodyLength(header: Uint8Array<ArrayBuffer>): number {
  const length = new DataView(header.buffer, header.byteOffset).getUint32(0, true);
  if (length > MAX_MESSAGE_BYTES) throw new RangeError("a message of the file helper is too long");
  return length;
}
