import * as calls from "../../linux/file_calls.ts";
import { cString } from "../../linux/cstring.ts";
import { checked } from "../os_error.ts";

const ITSELF = cString("");
/** Filled and read within one step. */
const status = new calls.FileStatus();

/** The size of a regular file in bytes; null for anything else. */
export function regularFileSize(fd: number): number | null {
  checked(calls.statusAt(fd, ITSELF, calls.AT_EMPTY_PATH, status));
  return status.kind === calls.S_IFREG ? status.size : null;
}
