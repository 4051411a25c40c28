/** The events of inotify(7), as its descriptor gives them. */

import type { Bytes } from "./libc.ts";

export const IN_MODIFY = 0x2;
export const IN_ATTRIB = 0x4;
export const IN_MOVED_FROM = 0x40;
export const IN_MOVED_TO = 0x80;
export const IN_CREATE = 0x100;
export const IN_DELETE = 0x200;
export const IN_DELETE_SELF = 0x400;
export const IN_MOVE_SELF = 0x800;
/** Events were lost because nobody took them in time; it belongs to no watch. */
export const IN_Q_OVERFLOW = 0x4000;
/** For adding a watch: only on a directory, not through a link, and besides what is watched for already. */
export const IN_ONLYDIR = 0x1000000;
export const IN_DONT_FOLLOW = 0x2000000;
export const IN_MASK_ADD = 0x20000000;

export interface InotifyEvent {
  /** The number of the watch; -1 for lost events. */
  readonly watch: number;
  readonly mask: number;
  /** What it happened to in the directory, a character per byte; empty: the directory itself. */
  readonly name: string;
}

/** Size of `struct inotify_event` without the name. */
const HEADER_BYTES = 16;

/** Takes apart what one read returned, which is whole events. */
export function inotifyEvents(bytes: Bytes): InotifyEvent[] {
  const events: InotifyEvent[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length;) {
    const nameStart = at + HEADER_BYTES;
    const nameEnd = nameStart + view.getUint32(at + 12, true);
    const name = bytes.subarray(nameStart, nameEnd); // filled up with NULs
    const nul = name.indexOf(0);
    events.push({
      watch: view.getInt32(at, true),
      mask: view.getUint32(at + 4, true),
      name: String.fromCharCode(...(nul < 0 ? name : name.subarray(0, nul))),
    });
    at = nameEnd;
  }
  return events;
}
